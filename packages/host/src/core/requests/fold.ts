import type { ThreadState } from "../state.ts";
import { withStage } from "../turn/fold.ts";
import type { RequestRecord } from "./records.ts";

export function foldRequest(state: ThreadState, record: RequestRecord): ThreadState {
  switch (record.type) {
    case "requestSent": {
      const { request } = record;
      const asked = { ...state, requests: [...state.requests, request] };
      if (request.aside !== undefined) return asked;
      return withStage(asked, request, { kind: "asking", requestId: request.id });
    }
    case "requestResolved": {
      const request = state.requests.find(({ id }) => id === record.requestId);
      if (request === undefined) return state;
      const requests = state.requests.filter((one) => one !== request);
      if (request.aside !== undefined) return { ...state, requests };
      const { method } = request;
      return withStage({ ...state, requests }, request, { kind: "heard", method, answer: record.answer });
    }
  }
}
