type Labels = Readonly<Record<string, string>>;

/** Counters and gauges in Prometheus' text format. Gauges are read from the host when metrics are requested. */
export class Metrics {
  readonly #help = new Map<string, { readonly type: "counter" | "gauge"; readonly help: string }>();
  readonly #values = new Map<string, Map<string, number>>();
  readonly #gauges: (() => void)[] = [];

  counter(name: string, help: string): (labels?: Labels, by?: number) => void {
    const values = this.#declare(name, "counter", help);
    // The label text is cached, because counters are incremented often.
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

  /** A gauge with several values, distinguished by labels. */
  gauges(name: string, help: string, read: () => Iterable<readonly [Labels, number]>): void {
    const values = this.#declare(name, "gauge", help);
    this.#gauges.push(() => {
      values.clear();
      for (const [labels, value] of read()) values.set(labelText(labels), value);
    });
  }

  /** The current values of all gauges without labels. */
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
