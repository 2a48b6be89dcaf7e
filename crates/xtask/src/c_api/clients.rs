//! Debian programs that are linked with `liblua5.4.so.0`. Their output must be the same with the
//! library of this repository in its place.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{inputs, output, scratch, text, with_library};

/// A program, the package that contains it, and the command that prints its results.
struct Client {
    name: &'static str,
    package: &'static str,
    run: fn(&Surroundings<'_>) -> Option<String>,
}

const CLIENTS: [Client; 6] = [
    Client { name: "gnuplot", package: "gnuplot-nox", run: gnuplot },
    Client { name: "clingo", package: "gringo", run: clingo },
    Client { name: "gringo", package: "gringo", run: gringo },
    Client { name: "lighttpd", package: "lighttpd lighttpd-modules-lua curl", run: lighttpd },
    Client { name: "dnsmasq", package: "dnsmasq-base-lua", run: dnsmasq },
    Client { name: "neomutt", package: "neomutt", run: neomutt },
];

/// The folder in which a program runs, and the library that it uses.
struct Surroundings<'a> {
    root: &'a Path,
    replaced: bool,
}

impl Surroundings<'_> {
    fn command(&self, words: &str) -> Command {
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(inputs(self.root));
        if self.replaced {
            with_library(self.root, &mut command);
        }
        command
    }

    /// Returns the output of a command without the lines that contain one of these texts.
    fn printed(&self, words: &str, varying: &[&str]) -> Option<String> {
        let text = text(&output(&mut self.command(words))?);
        let lines = text.lines().filter(|line| !varying.iter().any(|v| line.contains(v)));
        Some(lines.map(|line| format!("{line}\n")).collect())
    }
}

/// A server process, which is stopped when this value is dropped.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Option<Server> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = command.spawn().ok().map(Server);
        sleep(Duration::from_secs(2));
        server
    }

    /// Asks the server to end, and waits for it.
    fn stop(mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn gnuplot(s: &Surroundings<'_>) -> Option<String> {
    s.printed("gnuplot gnuplot.gp", &["%%"])
}

fn clingo(s: &Surroundings<'_>) -> Option<String> {
    s.printed("clingo clingo.lp 0 -q", &["Time"])
}

fn gringo(s: &Surroundings<'_>) -> Option<String> {
    s.printed("gringo clingo.lp", &[])
}

fn lighttpd(s: &Surroundings<'_>) -> Option<String> {
    let folder = scratch(s.root, "lighttpd");
    let port = 18181 + u16::from(s.replaced);
    let configuration = format!(
        "server.document-root = \"{0}\"\nserver.port = {port}\nserver.bind = \"127.0.0.1\"\n\
         server.modules = (\"mod_magnet\")\nserver.errorlog = \"{0}/log\"\n\
         magnet.attract-raw-url-to = (\"{1}/lighttpd.lua\")\n",
        folder.display(),
        inputs(s.root).display(),
    );
    let path = folder.join("configuration");
    std::fs::write(folder.join("file.txt"), "a file\n").ok()?;
    std::fs::write(&path, configuration).ok()?;
    let server =
        Server::start(&mut s.command(&format!("/usr/sbin/lighttpd -D -f {}", path.display())))?;
    let mut all = String::new();
    for page in ["lua?a=1&b=2", "old", "file.txt", "fail", "none", "lua?x=y"] {
        let url = format!("http://127.0.0.1:{port}/{page}");
        let answer = text(&output(Command::new("curl").args(["-s", "-i", &url]))?);
        let lines = answer.lines().filter(|line| !line.starts_with("Date"));
        all.extend(lines.map(|line| format!("{line}\n")));
    }
    server.stop();
    let log = std::fs::read_to_string(folder.join("log")).ok()?;
    let messages = log.lines().filter_map(|line| line.split_once(" lua: "));
    all.extend(messages.map(|(_, message)| format!("{message}\n")));
    Some(all.replace(&port.to_string(), "PORT"))
}

fn dnsmasq(s: &Surroundings<'_>) -> Option<String> {
    let folder = scratch(s.root, "dnsmasq");
    let (leases, log) = (folder.join("leases"), folder.join("log"));
    let expires = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs() + 3600;
    let lease = format!("{expires} 02:00:00:00:00:01 10.9.8.7 host 01:02:00:00:00:00:01\n");
    std::fs::write(&leases, lease).ok()?;
    let words = format!(
        "/usr/sbin/dnsmasq -d --conf-file=/dev/null --no-resolv --port=0 --interface=lo \
         --bind-interfaces --dhcp-range=10.9.8.1,10.9.8.100,1h --user=root --group=root \
         --dhcp-leasefile={} --dhcp-luascript={}/dnsmasq.lua",
        leases.display(),
        inputs(s.root).display(),
    );
    Server::start(s.command(&words).env("PERILUNE_LOG", &log))?.stop();
    sleep(Duration::from_secs(1));
    std::fs::read_to_string(log).ok()
}

fn neomutt(s: &Surroundings<'_>) -> Option<String> {
    let folder = scratch(s.root, "neomutt");
    let rc = format!(
        "lua-source {}/neomutt.lua\nlua mutt.set(\"editor\", \"ed-\" .. string.rep(\"x\", 3))\n",
        inputs(s.root).display(),
    );
    let path = folder.join("rc");
    std::fs::write(&path, rc).ok()?;
    let asks = ["-Q realname -Q editor -Q sort", "-A a2"];
    let mut all = String::new();
    for ask in asks {
        let words = format!("neomutt -n -F {} {ask}", path.display());
        all += &text(&output(s.command(&words).env("HOME", &folder))?);
    }
    Some(all)
}

/// Runs all programs with both libraries, and compares their output. Returns whether at least one
/// was there and all printed the same.
pub(super) fn run(root: &Path) -> bool {
    let (mut passed, mut compared) = (true, false);
    for client in &CLIENTS {
        let with = |replaced| (client.run)(&Surroundings { root, replaced });
        let Some(expected) = with(false) else {
            println!("{:<10} skipped (apt-get install {})", client.name, client.package);
            continue;
        };
        let same = with(true).as_ref() == Some(&expected);
        let lines = expected.lines().count();
        let how = if same { "the same" } else { "DIFFERENT" };
        println!("{:<10} {how}, {lines} lines", client.name);
        if !same {
            println!("{}instead of\n{expected}", with(true).unwrap_or_default());
        }
        passed &= same && lines > 0;
        compared = true;
    }
    passed && compared
}
