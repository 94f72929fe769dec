// Declares the part of oidc-provider that the tests use. The package has no types.
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export interface Interaction {
    readonly uid: string;
    readonly prompt: { readonly name: string; readonly details: Record<string, unknown> };
    readonly params: Record<string, string>;
    readonly session?: { readonly accountId: string };
    readonly grantId?: string;
  }

  export interface GrantInstance {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
    destroy(): Promise<void>;
  }

  export interface TokenInstance {
    readonly grantId: string;
    readonly clientId: string;
    readonly scope?: string;
    readonly aud?: string | string[];
    readonly isExpired: boolean;
    destroy(): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<void>;
    on(event: string, listener: (...args: never[]) => void): this;
    readonly Grant: {
      new (fields: { accountId: string; clientId: string }): GrantInstance;
      find(id: string): Promise<GrantInstance | undefined>;
    };
    readonly AccessToken: { find(token: string): Promise<TokenInstance | undefined> };
    readonly RefreshToken: { find(token: string): Promise<TokenInstance | undefined> };
  }
}
