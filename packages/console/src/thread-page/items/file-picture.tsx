import { useSignal } from "@preact/signals";
import { useContext, useEffect, useRef } from "preact/hooks";
import { folderName } from "../../parts/file-paths.ts";
import { HostClient } from "../host-client-context.ts";
import { ThreadFolder } from "../thread-folder-context.ts";
import { pictureOfFile } from "./picture-of-file.ts";
import { MAX_SHOWN_BYTES } from "./raster-picture.ts";

/** The current content of a file, if it is a picture. The file is read when its place comes into sight. */
export function FilePicture({ path }: { path: string }) {
  const client = useContext(HostClient);
  const folder = useContext(ThreadFolder);
  const place = useRef<HTMLSpanElement>(null);
  const src = useSignal<string | undefined>(undefined);
  const absolute = path.startsWith("/") ? path : `${folder}/${path}`;
  useEffect(() => {
    const inSight = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      inSight.disconnect();
      client?.request("fs/readFile", { path: absolute, maxBytes: MAX_SHOWN_BYTES }).then(
        ({ dataBase64 }) => {
          src.value = pictureOfFile(dataBase64);
        },
        // The file may be gone, too large, or not accessible to this user: only its path is shown then.
        () => {},
      );
    });
    inSight.observe(place.current!);
    return () => inSight.disconnect();
  }, [client, absolute, src]);
  return (
    <span class="file-picture" ref={place}>
      {src.value === undefined ? null : (
        <img class="picture" src={src.value} alt={`Content of ${folderName(path)}`} />
      )}
    </span>
  );
}
