// The files of the session, which its tools have made.
import { useEffect, useState } from 'react'
import type { FileList, WorkspaceFile } from '../../../src/wire/session.ts'
import { fileAddress, listFiles } from '../api/api.ts'
import { Icon } from './icon.tsx'
import { bytes, count, shortTime } from './words.ts'

const PREVIEW_BYTES = 20_000

interface FilesPanelProps {
  sessionId: string
  /** Changes whenever a tool has ended. */
  version: number
  onClose: () => void
}

export function FilesPanel({ sessionId, version, onClose }: FilesPanelProps) {
  const [list, setList] = useState<FileList | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version of the files is a reason to read them again
  useEffect(() => {
    let isOld = false
    listFiles(sessionId).then(
      (loaded) => !isOld && setList(loaded),
      (error: Error) => !isOld && setProblem(error.message),
    )
    return () => {
      isOld = true
    }
  }, [sessionId, version])
  return (
    <aside className="files" aria-label="Files">
      <header className="dock-head">
        <h2>Files</h2>
        <button type="button" className="icon-button" aria-label="Close files" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {problem && <p className="banner bad">{problem}</p>}
      <ul className="file-list">
        {list?.files.map((file) => (
          <File key={file.path} file={file} address={fileAddress(sessionId, file.path)} />
        ))}
      </ul>
      <p className="hint">
        {list === null
          ? 'Loading…'
          : list.files.length === 0
            ? 'No files yet. Tools of this session write here; try “write notes.txt: buy milk”.'
            : `${count(list.files.length, 'file')}, ${bytes(list.bytes)} of ${bytes(list.max_bytes)}`}
      </p>
    </aside>
  )
}

function File({ file: { path, bytes: size, updated_at }, address }: { file: WorkspaceFile; address: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li className="file">
      <button type="button" className="file-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {path}
      </button>
      <span className="hint">
        {bytes(size)} · {shortTime(updated_at)}
      </span>
      <a className="quiet-button" href={address} download aria-label={`Download ${path}`}>
        Download
      </a>
      {isOpen && <Preview key={updated_at} address={address} />}
    </li>
  )
}

function Preview({ address }: { address: string }) {
  const [text, setText] = useState('Loading…')
  useEffect(() => {
    fetch(address)
      .then((response) => (response.ok ? response.arrayBuffer() : Promise.reject(new Error('gone'))))
      .then(
        (content) => setText(textOf(new Uint8Array(content))),
        () => setText('The file could not be read.'),
      )
  }, [address])
  return <pre className="code">{text}</pre>
}

function textOf(content: Uint8Array): string {
  if (content.includes(0)) return 'This is not a text file.'
  const text = new TextDecoder().decode(content.subarray(0, PREVIEW_BYTES))
  return content.length > PREVIEW_BYTES ? `${text}\n… (download the file to see the rest)` : text || '(empty)'
}
