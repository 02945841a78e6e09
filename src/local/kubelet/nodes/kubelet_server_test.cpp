#include "local/kubelet/nodes/kubelet_server.hpp"

#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/event.hpp"
#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/rfc3339.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/images/image_catalog.hpp"
#include "local/kubelet/nodes/kubelet_logs.hpp"
#include "net/client.hpp"
#include "net/x509.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kPod = R"({
  "metadata":{"name":"web","namespace":"prod","uid":"aa-1"},
  "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
  "status":{"startTime":"2023-11-14T22:13:10Z","containerStatuses":[
    {"name":"c","image":"nginx:1","containerID":"containerd://c0ffee",
     "state":{"running":{"startedAt":"2023-11-14T22:13:10Z"}}},
    {"name":"d","state":{"waiting":{"reason":"ContainerCreating"}}}]}})";

struct FakePods final : KubeletPods {
  explicit FakePods(const Executor& loop) : more(loop) {}

  std::vector<json::value> pods() const override { return {*parse_json(kPod)}; }

  std::vector<ContainerRun> runs() const override {
    ContainerRun run{
        .ns = "prod", .pod = "web", .uid = "aa-1", .container = "c", .container_id = "x"};
    run.started_wall = WallTime(5ns);
    run.finished_wall = WallTime(9ns);
    run.exit_code = 3;
    return {run};
  }

  Task<Result<void>> read_log(std::string ns, std::string pod, std::string container,
                              LogOptions options, std::function<bool(std::string)> write) override {
    asked = options;
    if (pod != "web") co_return fail(Code::not_found, fmt::format("no pod {}/{}", ns, pod));
    if (container == "d") co_return fail(Code::bad_request, "container d is waiting to start");
    if (!options.follow) {
      write("one\n");
      write("two\n");
      co_return Result<void>();
    }
    for (;;) {
      co_await more.wait();
      if (!write("tick\n")) break;
    }
    co_return Result<void>();
  }

  Event more;
  LogOptions asked;
};

class KubeletServerTest : public ::testing::Test {
 protected:
  KubeletServerTest() {
    EXPECT_TRUE(make_directories(host_ / "sys/fs/cgroup"));
    EXPECT_TRUE(write_file(host_ / "sys/fs/cgroup/cgroup.controllers", "cpu memory"));
    cgroups_ = open_node_cgroups(
        {.node = "n1", .driver = CgroupDriver::systemd, .host_root = host_.path()});
    EXPECT_TRUE(cgroups_->make_pod(*parse_json(kPod)));
    EXPECT_TRUE(cgroups_->make_container(*parse_json(kPod), "c", "c0ffee"));
    use_cpu(10'000'000);
    const WallTime now = system_clock().wall();
    authority_ = *net::make_authority("ca", now - 1h, now + 1h);
    net::CertificateRequest request{.common_name = "n1"};
    request.ip_addresses = {"127.0.0.1"};
    request.server = true;
    request.not_before = now - 1h;
    request.not_after = now + 1h;
    auto server = net::issue_certificate(authority_, request);
    request.common_name = "agent";
    request.server = false;
    request.client = true;
    client_key_ = *net::issue_certificate(authority_, request);
    KubeletServerOptions options{.node = "n1", .tls = {}, .access = {}};
    options.tls = {.certificate_pem = server->certificate_pem,
                   .key_pem = server->key_pem,
                   .client_ca_pem = authority_.certificate_pem};
    options.access = [](net::Peer peer, std::string token, std::string verb,
                        std::string subresource) {
      return allow(std::move(peer), std::move(token), std::move(verb), std::move(subresource));
    };
    server_options_ = options;
    auto started = KubeletServer::start(loop_.executor(), clock_, std::move(options), pods_,
                                        *cgroups_, *images_);
    EXPECT_TRUE(started);
    server_ = std::move(*started);
    net::ClientOptions client_options;
    client_options.tls.ca_pem = authority_.certificate_pem;
    client_ = *net::Client::create(loop_.executor(), base(), client_options);
  }

  ~KubeletServerTest() override { run_to_end(loop_, server_->stop()); }

  std::string base() const { return fmt::format("https://127.0.0.1:{}", server_->port()); }

  // "reader" may read pods and stats, "boss" everything.
  static Task<Result<void>> allow(net::Peer peer, std::string token, std::string verb,
                                  std::string subresource) {
    if (token.empty() && peer.certificate_user.empty())
      co_return fail(Code::unauthorized, "who are you");
    const bool narrow = subresource == "pods" || subresource == "stats";
    if (verb == "get" && (token == "boss" || peer.certificate_user == "agent" || narrow))
      co_return Result<void>();
    co_return fail(Code::forbidden, "not for you");
  }

  void use_cpu(int microseconds) {
    for (const char* place : {"", "/cri-containerd-c0ffee.scope"})
      EXPECT_TRUE(write_file(
          host_ /
              fmt::format("sys/fs/cgroup/plimsoll-default/n1/kubepods.slice/"
                          "kubepods-burstable.slice/kubepods-burstable-podaa_1.slice{}/cpu.stat",
                          place),
          fmt::format("usage_usec {}\nnr_periods 4\nnr_throttled 2\nthrottled_usec 500000\n",
                      microseconds)));
  }

  net::Response get(std::string path, std::string token = "boss") {
    net::Request request;
    auto [only, query] = std::pair(path.substr(0, path.find('?')), path.find('?'));
    request.path = only;
    if (query != path.npos) request.query = path.substr(query + 1);
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    auto response = run_to_end(loop_, client_->send(std::move(request)));
    EXPECT_TRUE(response) << response.error().message;
    return response.value_or(net::Response{0, {}, ""});
  }

  json::value get_json(std::string path) { return *parse_json(get(std::move(path)).body); }

  plim::testing::TempDir host_;
  Loop loop_;
  FakeClock clock_{*parse_rfc3339("2023-11-14T22:13:20Z")};
  FakePods pods_{loop_.executor()};
  std::unique_ptr<NodeCgroups> cgroups_;
  std::unique_ptr<images::NodeImages> images_ =
      make_node_images(loop_.executor(), clock_,
                       std::make_shared<images::ImageCatalog>(
                           images::ImageCatalog::Options{.program = "", .version = ""}));
  net::KeyPair authority_, client_key_;
  KubeletServerOptions server_options_;
  std::unique_ptr<KubeletServer> server_;
  std::shared_ptr<net::Client> client_;
};

TEST_F(KubeletServerTest, shows_its_pods) {
  const json::value list = get_json("/pods");
  EXPECT_EQ(text_at(list, {"kind"}), "PodList");
  EXPECT_EQ(list.at("items").at(0), *parse_json(kPod));
  const json::value running = get_json("/runningpods/");
  EXPECT_EQ(running.at("items").at(0).at("spec").at("containers").as_array().size(), 1u);
}

TEST_F(KubeletServerTest, checks_permissions) {
  EXPECT_EQ(get("/pods", "").status, 401);
  EXPECT_EQ(get("/pods", "reader").status, 200);
  EXPECT_EQ(get("/metrics", "reader").status, 403);
  EXPECT_EQ(get("/containerLogs/prod/web/c", "reader").status, 403);
  EXPECT_EQ(get("/nothing").status, 404);
  net::ClientOptions options;
  options.tls = {.ca_pem = authority_.certificate_pem,
                 .certificate_pem = client_key_.certificate_pem,
                 .key_pem = client_key_.key_pem};
  client_ = *net::Client::create(loop_.executor(), base(), options);
  EXPECT_EQ(get("/metrics", "").status, 200);
}

TEST_F(KubeletServerTest, shows_its_configuration) {
  EXPECT_EQ(get("/healthz").body, "ok");
  const json::value config = get_json("/configz").at("kubeletconfig");
  EXPECT_EQ(text_at(config, {"cgroupDriver"}), "systemd");
  EXPECT_EQ(text_at(config, {"cgroupRoot"}), "/plimsoll-default/n1");
  EXPECT_EQ(text_at(config, {"cpuManagerPolicy"}), "none");
}

TEST_F(KubeletServerTest, sums_up_usage) {
  const json::value first = get_json("/stats/summary");
  const json::value& pod = first.at("pods").at(0);
  EXPECT_EQ(text_at(pod, {"podRef", "name"}), "web");
  EXPECT_EQ(int_at(pod, {"cpu", "usageCoreNanoSeconds"}), 10'000'000'000);
  EXPECT_EQ(int_at(pod, {"cpu", "usageNanoCores"}), 1'000'000'000) << "since it started 10 s ago";
  EXPECT_EQ(pod.at("containers").as_array().size(), 1u);
  clock_.advance(10s);
  use_cpu(15'000'000);
  loop_.run_ready();
  const json::value later = get_json("/stats/summary");
  EXPECT_EQ(int_at(later.at("pods").at(0).at("containers").at(0), {"cpu", "usageNanoCores"}),
            500'000'000);
  EXPECT_EQ(int_at(later, {"node", "cpu", "usageNanoCores"}), 500'000'000);
  EXPECT_EQ(int_at(later, {"node", "cpu", "usageCoreNanoSeconds"}), 15'000'000'000);
}

TEST_F(KubeletServerTest, has_metrics_in_a_kubelets_words) {
  const std::string resource = get("/metrics/resource").body;
  EXPECT_NE(
      resource.find(
          R"(container_cpu_usage_seconds_total{container="c",namespace="prod",pod="web"} 10)"),
      resource.npos)
      << resource;
  EXPECT_NE(resource.find("node_cpu_usage_seconds_total 10"), resource.npos);
  const std::string cadvisor = get("/metrics/cadvisor").body;
  EXPECT_NE(cadvisor.find(
                R"(container_cpu_cfs_throttled_seconds_total{container="c",id="/plimsoll-default/)"
                R"(n1/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podaa_1.slice/)"
                R"(cri-containerd-c0ffee.scope",image="nginx:1",name="c0ffee",namespace="prod",)"
                R"(pod="web"} 0.5)"),
            cadvisor.npos)
      << cadvisor;
  EXPECT_NE(get("/metrics").body.find("kubelet_running_pods 1"), std::string::npos);
}

TEST_F(KubeletServerTest, gives_exact_times_of_runs) {
  const json::value run = get_json("/plimsoll/v1/runs").at("runs").at(0);
  EXPECT_EQ(int_at(run, {"startedWallNs"}), 5);
  EXPECT_EQ(int_at(run, {"finishedWallNs"}), 9);
  EXPECT_EQ(int_at(run, {"exitCode"}), 3);
}

TEST_F(KubeletServerTest, reads_logs) {
  EXPECT_EQ(get("/containerLogs/prod/web/c?tailLines=3&timestamps=true&sinceSeconds=5").body,
            "one\ntwo\n");
  EXPECT_EQ(pods_.asked.tail_lines, 3);
  EXPECT_TRUE(pods_.asked.timestamps);
  EXPECT_EQ(pods_.asked.since, clock_.wall() - 5s);
  const net::Response unknown = get("/containerLogs/prod/nobody/c");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, "no pod prod/nobody\n");
  EXPECT_EQ(get("/containerLogs/prod/web/d").status, 400);
  EXPECT_EQ(get("/containerLogs/prod/web").status, 400);
  EXPECT_EQ(get("/containerLogs/prod/web/c?tailLines=-1").status, 400);
}

TEST_F(KubeletServerTest, follows_logs_until_the_reader_leaves) {
  auto follow = [](std::shared_ptr<net::Client> client, Event& more) -> Task<int> {
    net::Request request;
    request.path = "/containerLogs/prod/web/c";
    request.query = "follow=true";
    request.headers.set("Authorization", "Bearer boss");
    auto opened = co_await client->open(std::move(request));
    EXPECT_TRUE(opened);
    more.notify();
    auto piece = co_await (*opened)->next();
    EXPECT_TRUE(piece && *piece);
    co_return **piece == "tick\n" ? 1 : 0;
  };
  // Quiet at first: the answer begins before the container has logged anything.
  TaskGroup time(loop_.executor());
  auto fly = [](FakeClock& clock) -> Task<void> {
    for (;;) {
      clock.advance(10ms);
      co_await yield_to_loop();
    }
  };
  time.spawn("time", fly(clock_));
  EXPECT_EQ(run_to_end(loop_, follow(client_, pods_.more)), 1);
  run_to_end(loop_, time.stop());
}

TEST_F(KubeletServerTest, takes_the_next_port_when_its_own_is_taken) {
  KubeletServerOptions options = server_options_;
  options.address = fmt::format("127.0.0.1:{}", server_->port());
  auto second = KubeletServer::start(loop_.executor(), clock_, options, pods_, *cgroups_, *images_);
  ASSERT_TRUE(second);
  EXPECT_GT((*second)->port(), server_->port());
  run_to_end(loop_, (*second)->stop());
}

TEST(LogOptions, reject_invalid_values) {
  for (const char* bad : {"follow=maybe", "tailLines=x", "limitBytes=-3", "sinceTime=noon"})
    EXPECT_EQ(parse_log_options(bad, WallTime()).error().code, Code::bad_request) << bad;
  EXPECT_TRUE(parse_log_options("follow=1&sinceSeconds=9223372036854775807", WallTime()));
}

}  // namespace
}  // namespace plim::local::kubelet
