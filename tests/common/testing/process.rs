//! LevelDB in a process of its own: compiles `leveldb.cc`, and talks to it over pipes.

use std::ffi::OsStr;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs, process};

use leveldb_filter::{BloomFilterPolicy, FilterPolicy};

use super::slices;

/// The running process, which ends when this is dropped.
pub(crate) struct LevelDb {
    process: Child,
    /// `None` once the process is to end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A request in the format described at the top of `leveldb.cc`.
pub(crate) struct Request(Vec<u8>);

impl LevelDb {
    /// Starts LevelDB, or returns one line that says what is missing.
    pub(crate) fn start() -> Result<Self, String> {
        static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        Self::run(PROGRAM.get_or_init(|| compile("leveldb", &["-lleveldb"])).as_ref()?)
    }

    /// [`start`](Self::start) with the classes that `LevelDB` does not install.
    pub(crate) fn start_with_internal_classes() -> Result<Self, String> {
        // Of Snappy, Debian has what programs need, and the other library what they are built with.
        let options = ["-DINTERNAL_CLASSES", "-l:libleveldb.a", "-l:libsnappy.so.1"];
        Self::run(&compile("leveldb_internal", &options)?)
    }

    fn run(program: &Path) -> Result<Self, String> {
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().map(BufReader::new).expect("a pipe");
        Ok(Self { process, requests, answers })
    }

    /// # Panics
    ///
    /// If the process does not answer; it has said why on stderr.
    pub(crate) fn ask(&mut self, request: &Request) -> Vec<u8> {
        self.ask_with(request, &BloomFilterPolicy::default())
    }

    /// The same with a policy that is plugged into `LevelDB` if the request says so.
    pub(crate) fn ask_with(&mut self, request: &Request, policy: &dyn FilterPolicy) -> Vec<u8> {
        self.send(&request.0)
            .and_then(|()| self.receive(policy))
            .expect("an answer from LevelDB's process")
    }

    fn send(&mut self, request: &[u8]) -> std::io::Result<()> {
        let mut pipe = self.requests.as_ref().expect("open until the end");
        pipe.write_all(&(request.len() as u64).to_le_bytes())?;
        pipe.write_all(request)
    }

    fn receive(&mut self, policy: &dyn FilterPolicy) -> std::io::Result<Vec<u8>> {
        loop {
            let len = self.receive_number()?;
            if len != u64::MAX {
                return self.receive_bytes(len);
            }
            let keys: std::io::Result<Vec<_>> = (0..self.receive_number()?)
                .map(|_| self.receive_number().and_then(|len| self.receive_bytes(len)))
                .collect();
            let mut filter = Vec::new();
            policy.create_filter(&slices(&keys?), &mut filter);
            self.send(&filter)?;
        }
    }

    fn receive_number(&mut self) -> std::io::Result<u64> {
        let mut number = [0; 8];
        self.answers.read_exact(&mut number)?;
        Ok(u64::from_le_bytes(number))
    }

    fn receive_bytes(&mut self, len: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len).expect("fits into memory there")];
        self.answers.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for LevelDb {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.process.wait();
    }
}

impl Request {
    pub(crate) fn new(kind: u8) -> Self {
        Self(vec![kind])
    }

    pub(crate) fn u32(mut self, n: u32) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, n: u64) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }

    pub(crate) fn string(self, bytes: &[u8]) -> Self {
        let mut request = self.u64(bytes.len() as u64);
        request.0.extend(bytes);
        request
    }

    pub(crate) fn strings(self, strings: &[impl AsRef<[u8]>]) -> Self {
        let mut request = self.u64(strings.len() as u64);
        for string in strings {
            request = request.u32(string.as_ref().len().try_into().expect("shorter than 4 GiB"));
        }
        for string in strings {
            request.0.extend(string.as_ref());
        }
        request
    }
}

/// The compiled program. If several tests or benches compile it, the last wins; all compile the
/// same.
fn compile(name: &str, options: &[&str]) -> Result<PathBuf, String> {
    // In the package's directory, where Cargo runs tests and benches.
    let source = Path::new("tests/leveldb/leveldb.cc");
    let program = super::temp::temp_dir().join(name);
    let unfinished = program.with_extension(process::id().to_string());
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let output = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-o"].map(OsStr::new))
        .args([unfinished.as_os_str(), source.as_os_str()])
        .args(options)
        .output()
        .map_err(|error| missing(&compiler, &error.to_string()))?;
    if !output.status.success() {
        return Err(missing(&compiler, &String::from_utf8_lossy(&output.stderr)));
    }
    // Atomic, since others may be starting the program right now.
    fs::rename(&unfinished, &program).map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(program)
}

/// The message that says what to install, with the line that says what failed.
fn missing(compiler: &OsStr, errors: &str) -> String {
    let is_cause = |line: &&str| line.contains("error:") || line.contains("cannot find");
    let cause = errors.lines().find(is_cause).unwrap_or(errors.trim_end());
    let needs = "needs g++ and LevelDB's library: apt-get install g++ libleveldb-dev";
    format!("{needs} ({}: {cause})", Path::new(compiler).display())
}
