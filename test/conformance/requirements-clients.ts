/** What published clients expect of a host, though no document says so. */
export const clientLines = {
  // Before the first word.
  "CLIENT-1": "A terminal asks for account, limits and requirements first, and ends itself on any error.",
  "CLIENT-2": "Clients read the configuration without looking whether a key is there.",
  "CLIENT-3": "One value of an unknown form makes a client give up on all of the configuration.",
  "CLIENT-4":
    "A list that has nothing to show is empty, not an error; one entry a folder where it has folders.",
  "CLIENT-5":
    "Skills are read from the home, the person's folder and the repository down to the folder asked for.",
} as const;
