type Labels = Readonly<Record<string, string>>;

/**
 * Counters and gauges in Prometheus' text format. Counting is one map look-up; gauges that can be read off the
 * host are read when someone asks.
 */
export class Metrics {
  readonly #help = new Map<string, { readonly type: "counter" | "gauge"; readonly help: string }>();
  readonly #values = new Map<string, Map<string, number>>();
  readonly #gauges: (() => void)[] = [];

  counter(name: string, help: string): (labels?: Labels, by?: number) => void {
    const values = this.#declare(name, "counter", help);
    // What is counted often is written out once.
    const texts = new Map<string, string>();
    return (labels, by = 1) => {
      let plain = "";
      for (const label in labels) plain += `${label}\0${labels[label]}\0`;
      let key = texts.get(plain);
      if (key === undefined) {
        key = labelText(labels);
        texts.set(plain, key);
      }
      values.set(key, (values.get(key) ?? 0) + by);
    };
  }

  gauge(name: string, help: string, read: () => number): void {
    const values = this.#declare(name, "gauge", help);
    this.#gauges.push(() => values.set("", read()));
  }

  /** Several values of one gauge, told apart by labels. */
  gauges(name: string, help: string, read: () => Iterable<readonly [Labels, number]>): void {
    const values = this.#declare(name, "gauge", help);
    this.#gauges.push(() => {
      values.clear();
      for (const [labels, value] of read()) values.set(labelText(labels), value);
    });
  }

  /** Gauges without labels, as they are now. */
  gaugeValues(): { name: string; value: number }[] {
    for (const read of this.#gauges) read();
    const found: { name: string; value: number }[] = [];
    for (const [name, { type }] of this.#help) {
      const value = this.#values.get(name)?.get("");
      if (type === "gauge" && value !== undefined) found.push({ name, value });
    }
    return found;
  }

  text(): string {
    for (const read of this.#gauges) read();
    let out = "";
    for (const [name, { type, help }] of this.#help) {
      out += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      for (const [labels, value] of this.#values.get(name) ?? []) out += `${name}${labels} ${value}\n`;
    }
    return out;
  }

  #declare(name: string, type: "counter" | "gauge", help: string): Map<string, number> {
    const values = new Map<string, number>();
    this.#help.set(name, { type, help });
    this.#values.set(name, values);
    return values;
  }
}

function labelText(labels: Labels | undefined): string {
  if (labels === undefined) return "";
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escapeLabel(value)}"`);
  return `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
