/** Models that are known to take words only, by their names. */
const BLIND =
  /(^|[/:_-])(gpt-oss|gpt-3|o1-mini|o3-mini|deepseek-(chat|coder|reasoner|r1|v\d)|codestral|qwen[\d.]*-coder)/i;

/** Whether a model can be given pictures, as far as its name tells. */
export function canSee(model: string): boolean {
  return !BLIND.test(model);
}
