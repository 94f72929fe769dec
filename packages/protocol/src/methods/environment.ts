import { method, NONE } from "../table-entry.ts";
import {
  EnvironmentAddParams,
  EnvironmentAddResponse,
  EnvironmentInfoParams,
  EnvironmentInfoResponse,
  EnvironmentStatusParams,
  EnvironmentStatusResponse,
} from "../types/environment.ts";

export const environmentMethods = {
  "environment/add": method({
    params: EnvironmentAddParams,
    result: EnvironmentAddResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "environment/info": method({
    params: EnvironmentInfoParams,
    result: EnvironmentInfoResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "environment/status": method({
    params: EnvironmentStatusParams,
    result: EnvironmentStatusResponse,
    scope: NONE,
    stability: "experimental",
  }),
};
