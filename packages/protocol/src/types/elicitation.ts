import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  number,
  object,
  optional,
  record,
  type Static,
  string,
  tagged,
  union,
  unknown,
} from "../schema-language.ts";

export const McpElicitationArrayType = enumeration("McpElicitationArrayType", ["array"]);
export type McpElicitationArrayType = Static<typeof McpElicitationArrayType>;

export const McpElicitationBooleanSchema = object("McpElicitationBooleanSchema", () => ({
  default: optional(boolean()),
  description: optional(string()),
  title: optional(string()),
  type: McpElicitationBooleanType,
}));
export type McpElicitationBooleanSchema = Static<typeof McpElicitationBooleanSchema>;

export const McpElicitationBooleanType = enumeration("McpElicitationBooleanType", ["boolean"]);
export type McpElicitationBooleanType = Static<typeof McpElicitationBooleanType>;

export const McpElicitationConstOption = object("McpElicitationConstOption", () => ({
  const: string(),
  title: string(),
}));
export type McpElicitationConstOption = Static<typeof McpElicitationConstOption>;

export const McpElicitationEnumSchema = union("McpElicitationEnumSchema", () => [
  McpElicitationSingleSelectEnumSchema,
  McpElicitationMultiSelectEnumSchema,
  McpElicitationLegacyTitledEnumSchema,
]);
export type McpElicitationEnumSchema = Static<typeof McpElicitationEnumSchema>;

export const McpElicitationLegacyTitledEnumSchema = object("McpElicitationLegacyTitledEnumSchema", () => ({
  default: optional(string()),
  description: optional(string()),
  enum: array(string()),
  enumNames: optional(array(string())),
  title: optional(string()),
  type: McpElicitationStringType,
}));
export type McpElicitationLegacyTitledEnumSchema = Static<typeof McpElicitationLegacyTitledEnumSchema>;

export const McpElicitationMultiSelectEnumSchema = union("McpElicitationMultiSelectEnumSchema", () => [
  McpElicitationUntitledMultiSelectEnumSchema,
  McpElicitationTitledMultiSelectEnumSchema,
]);
export type McpElicitationMultiSelectEnumSchema = Static<typeof McpElicitationMultiSelectEnumSchema>;

export const McpElicitationNumberSchema = object("McpElicitationNumberSchema", () => ({
  default: optional(number()),
  description: optional(string()),
  maximum: optional(number()),
  minimum: optional(number()),
  title: optional(string()),
  type: McpElicitationNumberType,
}));
export type McpElicitationNumberSchema = Static<typeof McpElicitationNumberSchema>;

export const McpElicitationNumberType = enumeration("McpElicitationNumberType", ["number", "integer"]);
export type McpElicitationNumberType = Static<typeof McpElicitationNumberType>;

export const McpElicitationObjectType = enumeration("McpElicitationObjectType", ["object"]);
export type McpElicitationObjectType = Static<typeof McpElicitationObjectType>;

export const McpElicitationPrimitiveSchema = union("McpElicitationPrimitiveSchema", () => [
  McpElicitationEnumSchema,
  McpElicitationStringSchema,
  McpElicitationNumberSchema,
  McpElicitationBooleanSchema,
]);
export type McpElicitationPrimitiveSchema = Static<typeof McpElicitationPrimitiveSchema>;

export const McpElicitationSchema = object("McpElicitationSchema", () => ({
  $schema: optional(string()),
  properties: record(McpElicitationPrimitiveSchema),
  required: optional(array(string())),
  type: McpElicitationObjectType,
}));
export type McpElicitationSchema = Static<typeof McpElicitationSchema>;

export const McpElicitationSingleSelectEnumSchema = union("McpElicitationSingleSelectEnumSchema", () => [
  McpElicitationUntitledSingleSelectEnumSchema,
  McpElicitationTitledSingleSelectEnumSchema,
]);
export type McpElicitationSingleSelectEnumSchema = Static<typeof McpElicitationSingleSelectEnumSchema>;

export const McpElicitationStringFormat = enumeration("McpElicitationStringFormat", [
  "email",
  "uri",
  "date",
  "date-time",
]);
export type McpElicitationStringFormat = Static<typeof McpElicitationStringFormat>;

export const McpElicitationStringSchema = object("McpElicitationStringSchema", () => ({
  default: optional(string()),
  description: optional(string()),
  format: optional(McpElicitationStringFormat),
  maxLength: optional(integer("uint32")),
  minLength: optional(integer("uint32")),
  title: optional(string()),
  type: McpElicitationStringType,
}));
export type McpElicitationStringSchema = Static<typeof McpElicitationStringSchema>;

export const McpElicitationStringType = enumeration("McpElicitationStringType", ["string"]);
export type McpElicitationStringType = Static<typeof McpElicitationStringType>;

export const McpElicitationTitledEnumItems = object("McpElicitationTitledEnumItems", () => ({
  anyOf: array(McpElicitationConstOption),
}));
export type McpElicitationTitledEnumItems = Static<typeof McpElicitationTitledEnumItems>;

export const McpElicitationTitledMultiSelectEnumSchema = object(
  "McpElicitationTitledMultiSelectEnumSchema",
  () => ({
    default: optional(array(string())),
    description: optional(string()),
    items: McpElicitationTitledEnumItems,
    maxItems: optional(integer("uint64")),
    minItems: optional(integer("uint64")),
    title: optional(string()),
    type: McpElicitationArrayType,
  }),
);
export type McpElicitationTitledMultiSelectEnumSchema = Static<
  typeof McpElicitationTitledMultiSelectEnumSchema
>;

export const McpElicitationTitledSingleSelectEnumSchema = object(
  "McpElicitationTitledSingleSelectEnumSchema",
  () => ({
    default: optional(string()),
    description: optional(string()),
    oneOf: array(McpElicitationConstOption),
    title: optional(string()),
    type: McpElicitationStringType,
  }),
);
export type McpElicitationTitledSingleSelectEnumSchema = Static<
  typeof McpElicitationTitledSingleSelectEnumSchema
>;

export const McpElicitationUntitledEnumItems = object("McpElicitationUntitledEnumItems", () => ({
  enum: array(string()),
  type: McpElicitationStringType,
}));
export type McpElicitationUntitledEnumItems = Static<typeof McpElicitationUntitledEnumItems>;

export const McpElicitationUntitledMultiSelectEnumSchema = object(
  "McpElicitationUntitledMultiSelectEnumSchema",
  () => ({
    default: optional(array(string())),
    description: optional(string()),
    items: McpElicitationUntitledEnumItems,
    maxItems: optional(integer("uint64")),
    minItems: optional(integer("uint64")),
    title: optional(string()),
    type: McpElicitationArrayType,
  }),
);
export type McpElicitationUntitledMultiSelectEnumSchema = Static<
  typeof McpElicitationUntitledMultiSelectEnumSchema
>;

export const McpElicitationUntitledSingleSelectEnumSchema = object(
  "McpElicitationUntitledSingleSelectEnumSchema",
  () => ({
    default: optional(string()),
    description: optional(string()),
    enum: array(string()),
    title: optional(string()),
    type: McpElicitationStringType,
  }),
);
export type McpElicitationUntitledSingleSelectEnumSchema = Static<
  typeof McpElicitationUntitledSingleSelectEnumSchema
>;

export const McpServerElicitationAction = enumeration("McpServerElicitationAction", [
  "accept",
  "decline",
  "cancel",
]);
export type McpServerElicitationAction = Static<typeof McpServerElicitationAction>;

export const McpServerElicitationRequestParams = tagged(
  "McpServerElicitationRequestParams",
  "mode",
  () => ({
    "openai/userVerification": {
      _meta: unknown(),
      challenge: string(),
      description: string(),
      title: string(),
    },
    form: { _meta: unknown(), message: string(), requestedSchema: McpElicitationSchema },
    "openai/form": { _meta: unknown(), message: string(), requestedSchema: unknown() },
    openaiForm: { _meta: unknown(), message: string(), requestedSchema: unknown() },
    url: { _meta: unknown(), elicitationId: string(), message: string(), url: string() },
  }),
  { common: () => ({ serverName: string(), threadId: string(), turnId: nullable(string()) }) },
);
export type McpServerElicitationRequestParams = Static<typeof McpServerElicitationRequestParams>;

export const McpServerElicitationRequestResponse = object("McpServerElicitationRequestResponse", () => ({
  _meta: optional(unknown()),
  action: McpServerElicitationAction,
  content: optional(unknown()),
}));
export type McpServerElicitationRequestResponse = Static<typeof McpServerElicitationRequestResponse>;
