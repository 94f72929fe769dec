import type { ComponentChildren } from "preact";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      {children}
    </svg>
  );
}

export const PlusIcon = () => (
  <Icon>
    <path d="M10 4v12M4 10h12" />
  </Icon>
);
export const BackIcon = () => (
  <Icon>
    <path d="M12 4l-6 6 6 6" />
  </Icon>
);
export const UndoIcon = () => (
  <Icon>
    <path d="M7 4L3.5 7.5L7 11M4 7.5h7a4.5 4.5 0 0 1 0 9H8" />
  </Icon>
);
export const MoreIcon = () => (
  <Icon>
    <path d="M4.5 10h.01M10 10h.01M15.5 10h.01" stroke-width="2.6" />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" fill="currentColor" stroke="none" />
  </Icon>
);
export const SendIcon = () => (
  <Icon>
    <path d="M10 16V4M5 9l5-5 5 5" />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="5" />
    <path d="M13 13l4 4" />
  </Icon>
);
export const DownIcon = () => (
  <Icon>
    <path d="M10 4v12M5 11l5 5 5-5" />
  </Icon>
);
export const UpIcon = () => (
  <Icon>
    <path d="M10 16V4M5 9l5-5 5 5" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="M4 10.5l4 4 8-9" />
  </Icon>
);
export const CrossIcon = () => (
  <Icon>
    <path d="M5 5l10 10M15 5L5 15" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="7" y="7" width="9" height="9" rx="1.5" />
    <path d="M13 7V5.5A1.5 1.5 0 0011.5 4h-6A1.5 1.5 0 004 5.500v6A1.5 1.5 0 005.5 13H7" />
  </Icon>
);
export const TerminalIcon = () => (
  <Icon>
    <path d="M4 5.500l4.5 4.500L4 14.500M10 15h6" />
  </Icon>
);
export const FileIcon = () => (
  <Icon>
    <path d="M5 3h6l4 4v10H5zM11 3v4h4" />
  </Icon>
);
export const ToolIcon = () => (
  <Icon>
    <path d="M12.5 3.500a4 4 0 00-3.8 5.300L3.5 14v2.500H6l5.200-5.200a4 4 0 005.300-3.800l-2.5 2.5-2.5-.5-.500-2.5 2.5-2.500a4 4 0 00-1-.5z" />
  </Icon>
);
export const ThoughtIcon = () => (
  <Icon>
    <circle cx="10" cy="9" r="5.5" />
    <path d="M8 17h4M8 14.500v2M12 14.500v2" />
  </Icon>
);
export const PeopleIcon = () => (
  <Icon>
    <circle cx="7.5" cy="7" r="2.8" />
    <path d="M2.5 16c.4-3 2.400-4.5 5-4.500s4.600 1.5 5 4.500M12.5 4.500a2.8 2.8 0 010 5.200M14 11.800c2 .5 3.200 1.900 3.5 4.200" />
  </Icon>
);
export const PlanIcon = () => (
  <Icon>
    <path d="M8 5h9M8 10h9M8 15h9M3.5 5h.01M3.5 10h.01M3.5 15h.01" />
  </Icon>
);
export const GlobeIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.5" />
    <path d="M3.5 10h13M10 3.500c4 4 4 9 0 13M10 3.500c-4 4-4 9 0 13" />
  </Icon>
);

/** The product's mark. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 48 48" aria-hidden="true">
      <path class="mark-wood" d="M10 6h28M10 42h28M24 2v4M24 42v4" />
      <path class="mark-thread" d="M14 12h20M14 18h20M14 24h20M14 30h20M14 36h20c6 0 8-3 8-6" />
    </svg>
  );
}
