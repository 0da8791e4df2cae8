// What a tool that wants out of its sandbox tries, as commands of a shell. @OTHER@ is a folder of somebody else, @PORT@ a server on loopback,
// @ABSTRACT@ the name of a socket without a file, @CWD@ the folder of the worker.
import type { ViolationKind } from '../../dist/tools/inside/request.js'
import type { Backend } from './sandboxes.ts'

export interface Attempt {
  name: string
  command: string
  /** The tool may take so long, in milliseconds. */
  timeoutMs?: number
  /** What the answer must warn of, one of these. Without a list the sandbox need not notice: there is nothing to get. */
  violation?: Partial<Record<Backend, readonly ViolationKind[]>>
  /** What the answer must say. */
  says?: Partial<Record<Backend, RegExp>>
}

const perl = (code: string) => `perl -e '${code}'`
const isNo = { bubblewrap: ['system_call'] } as const

/** Each fails without doing anything, so they can also be tried together in one call. */
export const READS: readonly Attempt[] = [
  { name: 'another session’s folder, by its absolute path', command: 'cat @OTHER@/secret.txt' },
  { name: 'another session’s folder, by ..', command: 'cat ../../../../../../..@OTHER@/secret.txt' },
  { name: 'a symbolic link out of the workspace', command: 'ln -s @OTHER@ out; cat out/secret.txt; cat < out/secret.txt' },
  { name: 'a hard link to a file outside', command: 'ln @OTHER@/secret.txt hard; cat hard' },
  { name: 'another root or folder by /proc', command: 'cat /proc/*/root@OTHER@/secret.txt /proc/*/cwd/../../../..@OTHER@/secret.txt' },
  { name: 'open files of other processes', command: 'ls -l /proc/[0-9]*/fd /proc/[0-9]*/map_files' },
  { name: 'environments of all processes', command: 'env; export -p; cat /proc/*/environ /proc/*/task/*/environ' },
  { name: 'command lines of all processes', command: 'cat /proc/*/cmdline' },
  {
    name: 'files of the machine',
    command: 'cat /etc/shadow /etc/passwd /root/.ssh/* /home/*/.ssh/* @CWD@/package.json @CWD@/.env; ls /root /home',
  },
  { name: 'devices and kernel memory', command: 'head -c 64 /proc/kcore /dev/mem /dev/kmsg /dev/vda /dev/sda; ls /sys' },
]

export const WRITES: readonly Attempt[] = [
  {
    name: 'settings of the kernel',
    command: 'echo "|/bin/false" > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger; echo 1 > /proc/1/oom_score_adj',
  },
  {
    name: 'the runtime',
    command:
      'echo x > /usr/bin/agentic-escape; echo x > /app/tools/process.js; rm -rf /usr/bin /app; echo x > /agentic-escape; echo x > /dev/shm/x',
  },
  { name: 'another session’s folder', command: 'echo x > @OTHER@/written; mkdir -p @OTHER@/made' },
  {
    name: 'an archive with names that lead out',
    command:
      'mkdir t; cd t; echo x > x; tar -cf ../slip.tar --transform "s#x#../../../../tmp/agentic-slip#" x; cd ..; tar -xPf slip.tar; rm -rf t slip.tar',
  },
]

export const NETWORK: readonly Attempt[] = [
  { name: 'a server on loopback', command: '(exec 3<> /dev/tcp/127.0.0.1/@PORT@ && cat <&3); curl -s http://127.0.0.1:@PORT@' },
  {
    name: 'any network',
    command: 'cat /proc/net/route /proc/net/dev; ls /sys/class/net',
    says: { bubblewrap: /^(?!.*(eth|ens|wlan|docker|br-))/s },
  },
  { name: 'a name server', command: 'cat /etc/resolv.conf; getent hosts localhost' },
  {
    name: 'a socket without a file',
    command: perl(
      'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die "no socket"; connect(S, pack_sockaddr_un("\\0@ABSTRACT@")) or die "no connection"; print <S>',
    ),
    says: { bubblewrap: /no socket/ },
  },
]

export const CALLS: readonly Attempt[] = [
  { name: 'a new user namespace', command: 'unshare -U id', violation: isNo },
  { name: 'a new user namespace by clone', command: perl('syscall(56, 0x10000011, 0, 0, 0, 0); print "alive"'), violation: isNo },
  { name: 'a mount', command: 'mount -t tmpfs none /tmp', violation: isNo },
  { name: 'ptrace', command: perl('syscall(101, 16, 1, 0, 0); print "alive"'), violation: isNo },
  { name: 'memory of another process', command: perl('syscall(310, 1, 0, 0, 0, 0, 0); print "alive"'), violation: isNo },
  { name: 'bpf', command: perl('syscall(321, 0, 0, 0); print "alive"'), violation: isNo },
  { name: 'keyrings', command: perl('syscall(250, 0, -3, 0, 0, 0); print "alive"'), violation: isNo },
  { name: 'io_uring', command: perl('print syscall(425, 8, 0) < 0 ? "refused" : "alive"'), says: { bubblewrap: /refused/ } },
  { name: 'the other numbers of x32', command: perl('syscall(0x40000000 + 39); print "alive"'), violation: isNo },
  {
    name: 'typing into the terminal of the worker',
    command: perl('my $c = "x"; ioctl(STDIN, 0x5412, $c); print "alive"'),
    violation: isNo,
  },
  { name: 'a program that is setuid root', command: 'su -c id < /dev/null; passwd -S < /dev/null; id -u', says: { bubblewrap: /^1000$/m } },
]

export const LIMITS: readonly Attempt[] = [
  {
    name: 'a fork bomb',
    command: ':(){ :|:& };:; sleep 1; while :; do :; done',
    timeoutMs: 1000,
    violation: { virtual: ['limit'], bubblewrap: ['time', 'processes'] },
  },
  {
    name: 'more processes than it may have',
    command: perl('for (1..200) { my $pid = fork; die "fork: $!" if !defined $pid; sleep 5, exit if !$pid }'),
    violation: { bubblewrap: ['processes'] },
  },
  {
    name: '2 GB of memory',
    command: 'tail /dev/zero; x=a; while :; do x=$x$x; done',
    timeoutMs: 10_000,
    violation: { virtual: ['limit', 'memory', 'time'], bubblewrap: ['memory'] },
  },
  {
    name: '2 GB of memory in many processes',
    command: 'for i in 1 2 3 4 5 6 7 8; do perl -e \'$x = "x" x 250000000; sleep 9\' & done; wait',
    timeoutMs: 10_000,
    violation: { bubblewrap: ['memory'] },
  },
  {
    name: 'a file of 10 GB',
    command: 'head -c 10G /dev/zero > big; printf "%20000000s" x > big2',
    violation: { virtual: ['limit', 'workspace'], bubblewrap: ['disk', 'workspace'] },
  },
  {
    name: 'a million files',
    command: 'i=0; while [ $i -lt 1000000 ]; do : > f$i; i=$((i+1)); done',
    timeoutMs: 10_000,
    violation: { virtual: ['limit', 'workspace', 'time'], bubblewrap: ['disk', 'workspace', 'time'] },
  },
  {
    name: 'files outside of the workspace, to fill memory',
    command: 'head -c 100M /dev/zero > /tmp/big; head -c 100M /dev/zero > /dev/shm/big',
    violation: { bubblewrap: ['disk'] },
  },
  {
    name: 'output without end',
    command: 'while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done',
    timeoutMs: 10_000,
    violation: { virtual: ['limit', 'time', 'output'], bubblewrap: ['output', 'time'] },
  },
  {
    name: 'a loop that ignores signals',
    command: 'trap "" TERM INT HUP QUIT; while :; do :; done',
    timeoutMs: 1000,
    violation: { virtual: ['time', 'limit'], bubblewrap: ['time'] },
  },
  {
    name: 'a path of a thousand levels',
    command: 'p=$(printf "d/%.0s" $(seq 1000)); mkdir -p $p; echo x > "$p"deep',
    violation: { virtual: ['workspace'], bubblewrap: ['workspace'] },
  },
  {
    name: 'a bomb of zeros in the workspace',
    command: 'i=0; while [ $i -lt 10 ]; do printf "%3000000s" x > z$i; i=$((i+1)); done',
    violation: { virtual: ['limit', 'workspace'], bubblewrap: ['workspace', 'disk'] },
  },
]

/** They are ordinary, and must come through as they are. */
export const NAMES: readonly Attempt[] = [
  { name: 'file names with a newline and with $()', command: 'echo 1 > "new\nline"; echo 2 > "\\$(touch pwned)"; ls | wc -l' },
]

export const ATTEMPTS: readonly Attempt[] = [...READS, ...WRITES, ...NETWORK, ...CALLS, ...LIMITS]
