import { serverRequest } from "./table-entry.ts";
import { ChatgptAuthTokensRefreshParams, ChatgptAuthTokensRefreshResponse } from "./types/account.ts";
import {
  CommandExecutionRequestApprovalParams,
  CommandExecutionRequestApprovalResponse,
  FileChangeRequestApprovalParams,
  FileChangeRequestApprovalResponse,
  PermissionsRequestApprovalParams,
  PermissionsRequestApprovalResponse,
  ToolRequestUserInputParams,
  ToolRequestUserInputResponse,
} from "./types/approval.ts";
import { DynamicToolCallParams, DynamicToolCallResponse } from "./types/dynamic-tool.ts";
import {
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
} from "./types/elicitation.ts";

/** Server requests of threads. They are journal records, so they survive the connections that they were sent on. */
export const threadRequests = {
  "item/commandExecution/requestApproval": serverRequest({
    params: CommandExecutionRequestApprovalParams,
    result: CommandExecutionRequestApprovalResponse,
  }),
  "item/fileChange/requestApproval": serverRequest({
    params: FileChangeRequestApprovalParams,
    result: FileChangeRequestApprovalResponse,
  }),
  "item/permissions/requestApproval": serverRequest({
    params: PermissionsRequestApprovalParams,
    result: PermissionsRequestApprovalResponse,
  }),
  "item/tool/requestUserInput": serverRequest({
    params: ToolRequestUserInputParams,
    result: ToolRequestUserInputResponse,
  }),
  "item/tool/call": serverRequest({ params: DynamicToolCallParams, result: DynamicToolCallResponse }),
  "mcpServer/elicitation/request": serverRequest({
    params: McpServerElicitationRequestParams,
    result: McpServerElicitationRequestResponse,
  }),
};

export const serverRequests = {
  ...threadRequests,
  "account/chatgptAuthTokens/refresh": serverRequest({
    params: ChatgptAuthTokensRefreshParams,
    result: ChatgptAuthTokensRefreshResponse,
  }),
};
