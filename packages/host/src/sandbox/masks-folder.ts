/** In the home: which files confined commands need in the repositories of people. */
export const MASKS = "sandbox-masks";
