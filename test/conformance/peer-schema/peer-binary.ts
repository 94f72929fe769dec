// scripts/ is plain JavaScript, so that it runs before anything is installed; its types are stated here.
interface PeerScript {
  PEER_VERSION: string;
  ensurePeer(options?: { install?: boolean }): Promise<string | undefined>;
}
const script = new URL("../../../scripts/install-peer.mjs", import.meta.url).href;

export const { PEER_VERSION, ensurePeer } = (await import(/* @vite-ignore */ script)) as PeerScript;
