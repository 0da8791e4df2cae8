import type { Command } from '../command.ts'
import { bashCompletion, zshCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { type CompletedCommand, completedCommands } from '../completion/words.ts'

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** It completes all commands, itself too, so it gets them when it runs. */
export function completion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'print what lets a shell complete commands and options',
    args: [{ name: 'shell', what: 'which shell', choices: Object.keys(SHELLS) }],
    withoutDatabase: true,
    examples: [
      'source <(durably completion bash)             # in ~/.bashrc or ~/.zshrc (zsh)',
      'durably completion fish > ~/.config/fish/completions/durably.fish',
    ],
    async run(given, io) {
      io.out(SHELLS[given.arg('shell')]?.(completedCommands(commands())) ?? '')
      return undefined
    },
  }
}
