// Holds many TLS watches, kills the server under them and expects all of them back.
// usage: watch_soak [WATCHES [SECONDS]]
#include <cstdlib>

#include "watch_clients.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNoticeWithin = 2000;  // milliseconds
constexpr double kMaxGrowth = 0.10;           // of the server's memory while nothing changes

struct Setup {
  std::size_t watches;
  std::chrono::seconds hold;
};

std::unique_ptr<Child> start_server(const Pki& pki, std::uint16_t port, std::int64_t beginning) {
  return std::make_unique<Child>([&](const Child::Ready& ready) {
    raise_descriptor_limit();
    WatchServer(pki, fmt::format("127.0.0.1:{}", port), beginning).run(ready);
  });
}

Task<int> soak(Setup setup, Executor loop, const Pki& pki, std::unique_ptr<Child>& server,
               std::int64_t beginning) {
  bool good = true;
  auto report = [&](bool ok, const std::string& line) {
    fmt::print("{:<60} {}\n", line, ok ? "ok" : "FAILED");
    std::fflush(stdout);
    good = good && ok;
  };
  long empty = server->resident_kilobytes();
  WatchClients clients(loop, pki, server->port(), setup.watches);
  auto started = unix_millis();
  bool connected = co_await clients.all_have_event_since(started, 120s);
  report(connected, fmt::format("{} watches opened in {:.1f} s", setup.watches,
                                static_cast<double>(unix_millis() - started) / 1000));
  clients.forget_lag();
  long at_start = server->resident_kilobytes();
  co_await system_clock().sleep(setup.hold);
  long at_end = server->resident_kilobytes();
  auto count = static_cast<long>(setup.watches);
  report((at_start - empty) / count <= 50,
         fmt::format("server: {} KB per watch ({} MB in all)", (at_start - empty) / count,
                     at_start / 1024));
  report(static_cast<double>(at_end) <= static_cast<double>(at_start) * (1 + kMaxGrowth),
         fmt::format("after {} s: {} MB", setup.hold.count(), at_end / 1024));
  report(clients.breaks() == 0, fmt::format("watches broken meanwhile: {}", clients.breaks()));
  report(clients.worst_lag() < 2000, fmt::format("slowest event: {} ms", clients.worst_lag()));

  auto killed = unix_millis();
  std::uint16_t port = server->port();
  server->kill();
  auto noticed = co_await clients.all_broken_since(killed, 10s);
  report(noticed && *noticed - killed <= kNoticeWithin,
         fmt::format("server killed: noticed by all within {} ms",
                     noticed ? std::to_string(*noticed - killed) : ">10000"));
  server = start_server(pki, port, beginning);
  auto restarted = unix_millis();
  bool resumed = co_await clients.all_have_event_since(restarted, 120s);
  report(resumed, fmt::format("server back: all resumed after {:.1f} s",
                              static_cast<double>(unix_millis() - restarted) / 1000));
  report(clients.gaps() == 0, fmt::format("events missing or twice: {}", clients.gaps()));
  co_await clients.stop();
  co_return good ? 0 : 1;
}

}  // namespace
}  // namespace plim::bench

int main(int argc, char** argv) {
  using namespace plim::bench;
  plim::prepare_process();
  raise_descriptor_limit();
  Setup setup{.watches = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000,
              .hold = std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 60)};
  Pki pki;
  const std::int64_t beginning = unix_millis();
  auto server = start_server(pki, 0, beginning);
  plim::Loop loop;
  return loop.run(soak(setup, loop.executor(), pki, server, beginning));
}
