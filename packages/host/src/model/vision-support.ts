/** Names of models that are known to accept text only. */
const TEXT_ONLY =
  /(^|[/:_-])(gpt-oss|gpt-3|o1-mini|o3-mini|deepseek-(chat|coder|reasoner|r1|v\d)|codestral|qwen[\d.]*-coder)/i;

/** Whether a model accepts images, judging by its name. */
export function acceptsImages(model: string): boolean {
  return !TEXT_ONLY.test(model);
}
