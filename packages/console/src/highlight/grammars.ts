import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { type TokenRun, tokenRuns } from "./token-runs.ts";

/** All languages of `languages.ts`. This module is loaded when the first code is highlighted. */
const lowlight = createLowlight({
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua },
  ...{ makefile, markdown, php, python, ruby, rust, sql, swift, typescript, xml, yaml },
});

/** Splits code into highlighted pieces; undefined if the grammar fails. `language` is one of `languages.ts`. */
export function highlightedRuns(text: string, language: string): readonly TokenRun[] | undefined {
  try {
    return tokenRuns(lowlight.highlight(language, text));
  } catch {
    return undefined;
  }
}
