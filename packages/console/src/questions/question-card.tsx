import { ApprovalCard, FileApprovalCard, PermissionCard } from "./approval-cards.tsx";
import { ElicitationCard } from "./elicitation-card.tsx";
import type { Question } from "./questions.ts";
import { UserInputCard } from "./user-input-card.tsx";

/** One question, with the buttons or fields that answer it. */
export function QuestionCard({ question }: { question: Question }) {
  switch (question.method) {
    case "item/commandExecution/requestApproval":
      return <ApprovalCard question={question} />;
    case "item/fileChange/requestApproval":
      return <FileApprovalCard question={question} />;
    case "item/permissions/requestApproval":
      return <PermissionCard question={question} />;
    case "item/tool/requestUserInput":
      return <UserInputCard question={question} />;
    case "mcpServer/elicitation/request":
      return <ElicitationCard question={question} />;
  }
}
