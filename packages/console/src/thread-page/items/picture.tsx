import { FileIcon } from "../../parts/icons.tsx";
import { LazyComponent } from "../../parts/lazy-component.tsx";
import { Note } from "./folded-item.tsx";
import { shownPicture } from "./raster-picture.ts";

/** A picture that an item contains as a data URL. */
export function InlinePicture({ url, alt }: { url: string; alt: string }) {
  const src = shownPicture(url);
  if (src === undefined) return <Note icon={<FileIcon />}>A picture that cannot be shown</Note>;
  return <img class="picture" src={src} alt={alt} />;
}

const loadFilePicture = async () => (await import("./file-picture.tsx")).FilePicture;

/** A picture in a file of the host's machine. Nothing is shown if it cannot be read, so callers also show the path. */
export function PictureOfFile({ path }: { path: string }) {
  return <LazyComponent load={loadFilePicture} props={{ path }} meanwhile={null} />;
}
