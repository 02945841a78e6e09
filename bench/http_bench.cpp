// CPU time of an HTTPS server per POST of a 4.9 KB Pod, ours against cpp-httplib under the same
// load, and memory per idle TLS watch.
// usage: http_bench [SECONDS_PER_RUN [WATCHES]]
#define CPPHTTPLIB_OPENSSL_SUPPORT
#include <cstdlib>
#include <httplib.h>

#include <boost/json.hpp>

#include "base/json.hpp"
#include "watch_clients.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kConnections = 64;
constexpr int kRounds = 3;
constexpr double kMaxShare = 0.7;  // of cpp-httplib's CPU time
constexpr double kMaxMicros = 60;
constexpr long kMaxWatchKilobytes = 50;
constexpr std::size_t kPodSize = 4900;

std::string make_pod() {
  json::object pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", {{"name", "web-0"}, {"namespace", "default"}, {"uid", "0f3a"}}}};
  json::array env;
  for (int i = 0; json::serialize(pod).size() < kPodSize; ++i) {
    env.push_back({{"name", fmt::format("VARIABLE_{}", i)}, {"value", fmt::format("value {}", i)}});
    pod["spec"] = {{"containers", {{{"name", "main"}, {"image", "registry/app:1"}, {"env", env}}}}};
  }
  return json::serialize(pod);
}

// What both servers do with a request.
std::pair<int, std::string> review(const std::string& body) {
  boost::system::error_code error;
  json::value pod = json::parse(body, error);
  if (error) return {400, R"({"ok":false})"};
  json::object answer{{"ok", true}, {"uid", text_at(pod, {"metadata", "uid"})}};
  return {200, json::serialize(answer)};
}

Task<net::Reply> handle(net::Request request) {
  net::Response response;
  std::tie(response.status, response.body) = review(request.body);
  response.headers.add("Content-Type", "application/json");
  co_return response;
}

Task<void> sleep_for_ever() {
  for (;;) co_await system_clock().sleep(1h);
}

void serve_ours(const Pki& pki, const Child::Ready& ready) {
  Loop loop;
  net::ServerOptions options;
  options.tls =
      net::ServerTls{.certificate_pem = pki.server.certificate_pem, .key_pem = pki.server.key_pem};
  net::Route route{.method = "POST", .pattern = "/review", .handler = handle};
  auto server = net::Server::listen({loop.executor()}, std::move(options), {route}).value();
  ready(server->port());
  run_to_end(loop, sleep_for_ever());
}

std::string write_file(const std::string& path, const std::string& content) {
  std::ofstream(path) << content;
  return path;
}

void serve_httplib(const std::string& certificate, const std::string& key,
                   const Child::Ready& ready) {
  httplib::SSLServer server(certificate.c_str(), key.c_str());
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.set_keep_alive_max_count(1u << 30);
  server.set_tcp_nodelay(true);
  server.Post("/review", [](const httplib::Request& request, httplib::Response& response) {
    auto [status, body] = review(request.body);
    response.status = status;
    response.set_content(body, "application/json");
  });
  int port = server.bind_to_any_port("127.0.0.1");
  ready(static_cast<std::uint16_t>(port));
  server.listen_after_bind();
}

struct Load {
  double requests_per_second = 0;
  double micros_per_request = 0;
};

// wrk as an independent load; its report says how many requests were answered.
Load measure(const Child& server, const std::string& script, int seconds) {
  auto before = server.cpu();
  std::string command = fmt::format("wrk -t2 -c{} -d{}s -s {} https://127.0.0.1:{}/review 2>&1",
                                    kConnections, seconds, script, server.port());
  std::FILE* wrk = ::popen(command.c_str(), "r");
  double requests = 0, unused = 0;
  char line[512];
  while (std::fgets(line, sizeof line, wrk)) {
    if (std::sscanf(line, " %lf requests in %lf", &requests, &unused) == 2) continue;
    if (std::string_view(line).find("Non-2xx") != std::string_view::npos) std::fputs(line, stdout);
  }
  ::pclose(wrk);
  std::chrono::duration<double, std::micro> used = server.cpu() - before;
  return {.requests_per_second = requests / seconds, .micros_per_request = used.count() / requests};
}

Task<int> measure_watches(Executor loop, const Pki& pki, const Child& server, std::size_t watches) {
  long empty = server.resident_kilobytes();
  WatchClients clients(loop, pki, server.port(), watches);
  bool all = co_await clients.all_have_event_since(unix_millis(), 120s);
  long each = (server.resident_kilobytes() - empty) / static_cast<long>(watches);
  co_await clients.stop();
  bool good = all && each <= kMaxWatchKilobytes;
  fmt::print("\nidle TLS watches: {}, {} KB each (limit {})  {}\n", watches, each,
             kMaxWatchKilobytes, good ? "ok" : "FAILED");
  co_return good ? 0 : 1;
}

bool compare(const Child& ours, const Child& httplib, const std::string& script, int seconds) {
  Load best[2];
  const Child* servers[] = {&ours, &httplib};
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i) {
      Load load = measure(*servers[i], script, seconds);
      if (round == 0 || load.micros_per_request < best[i].micros_per_request) best[i] = load;
    }
  }
  double share = best[0].micros_per_request / best[1].micros_per_request;
  bool good = share <= kMaxShare && best[0].micros_per_request <= kMaxMicros;
  fmt::print("HTTPS POST of {} bytes, {} connections, best of {} runs of {} s each\n", kPodSize,
             kConnections, kRounds, seconds);
  fmt::print("{:<28} {:>14} {:>12}\n", "server", "CPU us/request", "requests/s");
  fmt::print("{:<28} {:>14.1f} {:>12.0f}\n", "plimsoll, 1 thread", best[0].micros_per_request,
             best[0].requests_per_second);
  fmt::print("{:<28} {:>14.1f} {:>12.0f}\n", "cpp-httplib, 64 threads", best[1].micros_per_request,
             best[1].requests_per_second);
  fmt::print("share of cpp-httplib's CPU time: {:.2f} (limit {}), {:.1f} us (limit {})  {}\n",
             share, kMaxShare, best[0].micros_per_request, kMaxMicros, good ? "ok" : "FAILED");
  std::fflush(stdout);
  return good;
}

}  // namespace
}  // namespace plim::bench

int main(int argc, char** argv) {
  using namespace plim::bench;
  plim::prepare_process();
  raise_descriptor_limit();
  int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  std::size_t watches = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 5000;
  char directory[] = "/tmp/plim-bench-XXXXXX";
  if (!::mkdtemp(directory)) return 1;
  std::string dir = directory;
  Pki pki;
  std::string certificate = write_file(dir + "/cert.pem", pki.server.certificate_pem);
  std::string key = write_file(dir + "/key.pem", pki.server.key_pem);
  std::string script = write_file(
      dir + "/post.lua",
      fmt::format("wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n"
                  "wrk.body = [[{}]]\n",
                  make_pod()));
  Child ours([&](const Child::Ready& ready) { serve_ours(pki, ready); });
  Child httplib([&](const Child::Ready& ready) { serve_httplib(certificate, key, ready); });
  Child watched([&](const Child::Ready& ready) {
    WatchServer(pki, "127.0.0.1:0", unix_millis()).run(ready);
  });
  bool good = compare(ours, httplib, script, seconds);
  plim::Loop loop;
  good = loop.run(measure_watches(loop.executor(), pki, watched, watches)) == 0 && good;
  for (const std::string& file : {certificate, key, script}) ::unlink(file.c_str());
  ::rmdir(directory);
  return good ? 0 : 1;
}
