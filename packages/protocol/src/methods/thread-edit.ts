import { global, method, sharedGlobal, THREAD } from "../table-entry.ts";
import {
  ThreadApproveGuardianDeniedActionParams,
  ThreadApproveGuardianDeniedActionResponse,
} from "../types/auto-review.ts";
import {
  ThreadGrantsListParams,
  ThreadGrantsListResponse,
  ThreadGrantsRevokeParams,
  ThreadGrantsRevokeResponse,
} from "../types/grants.ts";
import {
  ThreadFilesRestoreParams,
  ThreadFilesRestoreResponse,
  ThreadInjectItemsParams,
  ThreadInjectItemsResponse,
  ThreadMetadataUpdateParams,
  ThreadMetadataUpdateResponse,
  ThreadPrepareApprovedPlanParams,
  ThreadPrepareApprovedPlanResponse,
  ThreadReadStateUpdateParams,
  ThreadReadStateUpdateResponse,
  ThreadRevertParams,
  ThreadRevertResponse,
  ThreadRollbackParams,
  ThreadRollbackResponse,
  ThreadSetNameParams,
  ThreadSetNameResponse,
} from "../types/thread-edit.ts";
import {
  ThreadSectionCreateParams,
  ThreadSectionCreateResponse,
  ThreadSectionDeleteParams,
  ThreadSectionDeleteResponse,
  ThreadSectionListParams,
  ThreadSectionListResponse,
  ThreadSectionMoveParams,
  ThreadSectionMoveResponse,
  ThreadSectionUpdateParams,
  ThreadSectionUpdateResponse,
} from "../types/thread-section.ts";

export const threadEditMethods = {
  "thread/name/set": method({
    params: ThreadSetNameParams,
    result: ThreadSetNameResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/readState/update": method({
    params: ThreadReadStateUpdateParams,
    result: ThreadReadStateUpdateResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/metadata/update": method({
    params: ThreadMetadataUpdateParams,
    result: ThreadMetadataUpdateResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/revert": method({
    params: ThreadRevertParams,
    result: ThreadRevertResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/files/restore": method({
    params: ThreadFilesRestoreParams,
    result: ThreadFilesRestoreResponse,
    scope: THREAD,
    stability: "experimental",
    ours: true,
  }),
  "thread/grants/list": method({
    params: ThreadGrantsListParams,
    result: ThreadGrantsListResponse,
    scope: THREAD,
    stability: "experimental",
    ours: true,
  }),
  "thread/grants/revoke": method({
    params: ThreadGrantsRevokeParams,
    result: ThreadGrantsRevokeResponse,
    scope: THREAD,
    stability: "experimental",
    ours: true,
  }),
  "thread/prepareApprovedPlan": method({
    params: ThreadPrepareApprovedPlanParams,
    result: ThreadPrepareApprovedPlanResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/inject_items": method({
    params: ThreadInjectItemsParams,
    result: ThreadInjectItemsResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/approveGuardianDeniedAction": method({
    params: ThreadApproveGuardianDeniedActionParams,
    result: ThreadApproveGuardianDeniedActionResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/section/move": method({
    params: ThreadSectionMoveParams,
    result: ThreadSectionMoveResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "threadSection/list": method({
    params: ThreadSectionListParams,
    result: ThreadSectionListResponse,
    scope: sharedGlobal("thread-sections"),
    stability: "stable",
  }),
  "threadSection/create": method({
    params: ThreadSectionCreateParams,
    result: ThreadSectionCreateResponse,
    scope: global("thread-sections"),
    stability: "stable",
  }),
  "threadSection/update": method({
    params: ThreadSectionUpdateParams,
    result: ThreadSectionUpdateResponse,
    scope: global("thread-sections"),
    stability: "stable",
  }),
  "threadSection/delete": method({
    params: ThreadSectionDeleteParams,
    result: ThreadSectionDeleteResponse,
    scope: global("thread-sections"),
    stability: "stable",
  }),
  "thread/rollback": method({
    params: ThreadRollbackParams,
    result: ThreadRollbackResponse,
    scope: THREAD,
    stability: "stable",
    ours: true,
  }),
};
