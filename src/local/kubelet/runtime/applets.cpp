#include "local/kubelet/runtime/applets.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/cpu_list.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {

namespace {

using Seconds = std::chrono::duration<double>;
using Words = std::vector<std::string>;

constexpr int kUsage = 2;

int complain(std::string_view text) {
  fmt::print(stderr, "tools: {}\n", text);
  return kUsage;
}

void say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// Parses --name value and --name=value. Any other word is stored under "".
std::map<std::string, std::string> options_of(const Words& words) {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      out[""] = words[i];
      continue;
    }
    const auto [name, value] = cut(std::string_view(words[i]).substr(2), '=');
    if (words[i].find('=') != std::string::npos) {
      out[std::string(name)] = value;
    } else {
      out[std::string(name)] = i + 1 < words.size() ? words[++i] : "";
    }
  }
  return out;
}

double number(const std::map<std::string, std::string>& options, const std::string& name,
              double fallback) {
  const auto found = options.find(name);
  if (found == options.end()) return fallback;
  if (found->second == "infinity" || found->second == "inf") return 1e9;
  return parse_double(found->second).value_or(fallback);
}

void rest(double seconds) {
  std::this_thread::sleep_for(Seconds(std::clamp(seconds, 0.0, 1e9)));
}

int sleep_applet(const Words& words) {
  rest(number(options_of(words), "", 0));
  return 0;
}

// Keeps `cpus` CPUs busy. The last thread sleeps for the missing part of a whole CPU.
void burn(double cpus, double seconds) {
  const auto end = std::chrono::steady_clock::now() + Seconds(seconds);
  std::vector<std::thread> threads;
  for (double left = cpus; left > 0; left -= 1) {
    const double share = std::min(left, 1.0);
    threads.emplace_back([share, end] {
      constexpr Seconds kTurn(0.01);
      while (std::chrono::steady_clock::now() < end) {
        const auto begin = std::chrono::steady_clock::now();
        volatile double sink = 1;
        while (std::chrono::steady_clock::now() - begin < kTurn * share)
          for (int i = 0; i < 1000; ++i) sink = std::sqrt(sink + i);
        if (share < 1) std::this_thread::sleep_for(kTurn * (1 - share));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

CpuSet allowed_cpus() {
  cpu_set_t mask;
  CpuSet out;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) out.add(cpu);
  return out;
}

// Knows only the CPUs that it was given, and prints each second on which CPU it runs.
int named_burn(const std::string& name, std::string_view cpus, double seconds) {
  if (!cpus.empty()) {
    auto wanted = parse_cpu_list(cpus);
    if (!wanted || wanted->empty())
      return complain("burn: with --name, --cpus wants a list as 4,5");
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int cpu : *wanted)
      if (cpu < CPU_SETSIZE) CPU_SET(cpu, &mask);
    if (::sched_setaffinity(0, sizeof mask, &mask) != 0) {
      std::perror("tools: burn: cannot run on these CPUs");
      return 1;
    }
  }
  const auto end = std::chrono::steady_clock::now() + Seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    say(fmt::format("{}: allowed {}, on {}", name, allowed_cpus().to_string(), ::sched_getcpu()));
    burn(1, 1);
  }
  return 0;
}

int burn_applet(const Words& words) {
  const auto options = options_of(words);
  if (const auto name = options.find("name"); name != options.end()) {
    const auto cpus = options.find("cpus");
    return named_burn(name->second, cpus == options.end() ? "" : cpus->second,
                      number(options, "seconds", 1e9));
  }
  burn(number(options, "cpus", 1), number(options, "seconds", 10));
  return 0;
}

int alloc_applet(const Words& words) {
  const auto options = options_of(words);
  const auto bytes = static_cast<std::size_t>(number(options, "mib", 16) * (1 << 20));
  std::vector<char> held;
  held.reserve(bytes);
  for (std::size_t done = 0; done < bytes; done += 1 << 20)
    held.insert(held.end(), std::min<std::size_t>(1 << 20, bytes - done), 'x');
  say(fmt::format("holding {} MiB", bytes >> 20));
  rest(number(options, "seconds", 1e9));
  return 0;
}

int echo_applet(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  say(line);
  return 0;
}

int exit_applet(const Words& words) {
  return words.empty() ? 0 : parse_int(words[0]).value_or(kUsage);
}

// A job in slices: each takes some time and prints a line at its end.
int slices_applet(const Words& words) {
  const auto options = options_of(words);
  const auto count = static_cast<int>(number(options, "count", 10));
  for (int i = 1; i <= count; ++i) {
    burn(number(options, "cpus", 1), number(options, "seconds", 0.1));
    say(fmt::format("slice {}/{} done", i, count));
  }
  return 0;
}

// Answers every request with 200 and the pod's name, or with --status.
int http_applet(const Words& words) {
  auto options = options_of(words);
  const char* pod_ip = std::getenv("POD_IP");
  if (options["address"].empty()) options["address"] = pod_ip != nullptr ? pod_ip : "127.0.0.1";
  const char* name = std::getenv("HOSTNAME");
  const std::string body = fmt::format("{}\n", name != nullptr ? name : "plimsoll");
  const std::string answer = fmt::format(
      "HTTP/1.1 {} X\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      static_cast<int>(number(options, "status", 200)), body.size(), body);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(options, "port", 8080)));
  if (::inet_pton(AF_INET, options["address"].c_str(), &address.sin_addr) != 1)
    return complain("http: --address wants an IPv4 address");
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 64) != 0) {
    std::perror("tools: http");
    return 1;
  }
  say(fmt::format("listening on {}:{}", options["address"], ntohs(address.sin_port)));
  for (;;) {
    Fd peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) continue;
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::string request;
    char buffer[4096];
    for (ssize_t n; request.find("\r\n\r\n") == std::string::npos && request.size() < 65536 &&
                    (n = ::read(peer.get(), buffer, sizeof buffer)) > 0;)
      request.append(buffer, static_cast<std::size_t>(n));
    (void)!::write(peer.get(), answer.data(), answer.size());
  }
}

struct Applet {
  std::string_view name, usage;
  int (*run)(const Words&);
};

constexpr std::array kApplets{
    Applet{"sleep", "sleep SECONDS|infinity", sleep_applet},
    Applet{"burn", "burn [--cpus N] [--seconds S], or burn --name NAME [--cpus LIST]", burn_applet},
    Applet{"alloc", "alloc [--mib N] [--seconds S]", alloc_applet},
    Applet{"echo", "echo WORDS…", echo_applet},
    Applet{"http", "http [--port N] [--address A] [--status N]", http_applet},
    Applet{"exit", "exit N", exit_applet},
    Applet{"slices", "slices [--count N] [--seconds S] [--cpus N]", slices_applet},
};

// The first process of a PID namespace ignores signals that it does not handle.
void end_on_sigterm(int number) {
  ::_exit(128 + number);
}

}  // namespace

bool is_applet(std::string_view name) {
  return std::any_of(kApplets.begin(), kApplets.end(),
                     [&](const Applet& applet) { return applet.name == name; });
}

int run_applet(int argc, char** argv) {
  ::signal(SIGTERM, end_on_sigterm);
  ::signal(SIGINT, end_on_sigterm);
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Applet& applet : kApplets)
    if (applet.name == name) return applet.run(Words(argv + 2, argv + argc));
  std::string usage = "one of:";
  for (const Applet& applet : kApplets) usage += fmt::format("\n  {}", applet.usage);
  return complain(usage);
}

}  // namespace plim::local::kubelet
