import { method, NONE } from "../table-entry.ts";
import {
  FuzzyFileSearchParams,
  FuzzyFileSearchResponse,
  FuzzyFileSearchSessionStartParams,
  FuzzyFileSearchSessionStartResponse,
  FuzzyFileSearchSessionStopParams,
  FuzzyFileSearchSessionStopResponse,
  FuzzyFileSearchSessionUpdateParams,
  FuzzyFileSearchSessionUpdateResponse,
} from "../types/fuzzy-file-search.ts";

export const fileSearchMethods = {
  fuzzyFileSearch: method({
    params: FuzzyFileSearchParams,
    result: FuzzyFileSearchResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fuzzyFileSearch/sessionStart": method({
    params: FuzzyFileSearchSessionStartParams,
    result: FuzzyFileSearchSessionStartResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "fuzzyFileSearch/sessionUpdate": method({
    params: FuzzyFileSearchSessionUpdateParams,
    result: FuzzyFileSearchSessionUpdateResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "fuzzyFileSearch/sessionStop": method({
    params: FuzzyFileSearchSessionStopParams,
    result: FuzzyFileSearchSessionStopResponse,
    scope: NONE,
    stability: "experimental",
  }),
};
