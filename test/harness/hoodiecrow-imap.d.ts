/** Types for those parts of hoodiecrow-imap that the mail harness uses. The package itself has no types. */
declare module 'hoodiecrow-imap' {
  import type { Server, Socket } from 'node:net';

  namespace hoodiecrow {
    interface StoredMessage {
      uid: number;
      flags: string[];
      /** The message's bytes, one character per byte. */
      raw: string;
    }

    interface Folder {
      uidvalidity: number;
      uidnext: number;
      messages: StoredMessage[];
    }

    interface Command {
      tag: string;
      attributes?: unknown[];
    }

    interface Response {
      tag: string;
      command?: string;
      attributes?: unknown[];
    }

    interface Connection {
      state: 'Not Authenticated' | 'Authenticated' | 'Selected';
      socket: Socket | null;
      /** If set, receives the client's lines instead of the command parser. */
      inputHandler: ((line: string) => void) | false;
      /** True if the server sends notices at once, false if it sends them with the next answer. */
      directNotifications: boolean;
      processNotifications(): void;
      send(response: Response, description: string, parsed: Command, data: string): void;
    }

    type CommandHandler = (connection: Connection, parsed: Command, data: string, done: () => void) => void;

    interface ImapServer {
      server: Server;
      getMailbox(path: string): Folder | undefined;
      appendMessage(path: string, flags: string[], internaldate: Date | undefined, raw: string): void;
      registerCapability(keyword: string): void;
      setCommandHandler(command: string, handler: CommandHandler): void;
      getCommandHandler(command: string): CommandHandler;
      /** Functions that get each response before it is sent, and may change it. */
      outputHandlers: ((connection: Connection, response: Response & { skipResponse?: boolean }) => void)[];
      listen(port: number, host: string, listening: () => void): void;
    }

    interface Options {
      plugins: (string | ((server: ImapServer) => void))[];
      users: Record<string, { password: string }>;
      storage: Record<string, unknown>;
    }
  }

  function hoodiecrow(options: hoodiecrow.Options): hoodiecrow.ImapServer;
  export = hoodiecrow;
}
