interface Props {
  readonly label: string;
  readonly value: string;
  /** Oldest first. */
  readonly points: readonly number[];
}

const WIDTH = 120;
const HEIGHT = 28;

/** A number, with a small chart of its recent values. */
export function Chart({ label, value, points }: Props) {
  const max = Math.max(1, ...points);
  const step = WIDTH / Math.max(1, points.length - 1);
  const line = points.map(
    (point, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (point / max) * (HEIGHT - 4)).toFixed(1)}`,
  );
  return (
    <div class="chart">
      <span class="dim">{label}</span>
      <strong>{value}</strong>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {points.length > 1 ? (
          <>
            <polygon points={`0,${HEIGHT} ${line.join(" ")} ${WIDTH},${HEIGHT}`} />
            <polyline points={line.join(" ")} />
          </>
        ) : null}
      </svg>
    </div>
  );
}
