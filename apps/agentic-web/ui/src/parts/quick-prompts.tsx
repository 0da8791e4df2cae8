// What an empty chat offers. All of it works with the demo model.
const PROMPTS = ['What can you do?', 'what is 6 * 7', 'write notes.txt: buy milk', 'run: seq 3 | tac']

export function QuickPrompts({ onPick, isDemo }: { onPick: (text: string) => void; isDemo: boolean }) {
  return (
    <div className="empty">
      <h2>What shall the agent do?</h2>
      <p className="hint">
        {isDemo
          ? 'The demo model answers: a script, not an AI, with real tools. Choose a real model in the settings.'
          : 'It can calculate, read and write files, run commands in a virtual shell, and use SQL.'}
      </p>
      <ul className="prompts" aria-label="Quick prompts">
        {PROMPTS.map((prompt) => (
          <li key={prompt}>
            <button type="button" className="chip" onClick={() => onPick(prompt)}>
              {prompt}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
