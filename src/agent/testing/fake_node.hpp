// A node for the agent's tests: cgroups as files, and a kubelet that serves the list of its pods.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "net/server.hpp"

namespace plim::agent::testing {

class FakeNode {
 public:
  explicit FakeNode(Loop& loop) : loop_(loop), answers_(loop.executor()) { make_cgroup("/"); }

  ~FakeNode() {
    if (server_) run_to_end(loop_, server_->drain(net::Millis(0)));
  }

  FakeNode(const FakeNode&) = delete;
  FakeNode& operator=(const FakeNode&) = delete;

  const std::string& root() const { return root_.path(); }

  void make_cgroup(const std::string& path) {
    for (const char* controller : {"cpu", "cpuacct", "memory"})
      std::filesystem::create_directories(
          fmt::format("{}/sys/fs/cgroup/{}{}", root(), controller, path));
  }

  // A pod with one container, in the list and as cgroups.
  void run_pod(const std::string& name) {
    make_cgroup(fmt::format("/kubepods/besteffort/pod{0}/{0}", name));
    pods_.push_back(fmt::format(
        R"({{"metadata":{{"uid":"{0}","name":"{0}","namespace":"default"}},"spec":{{"containers":)"
        R"([{{"name":"c"}}]}},"status":{{"qosClass":"BestEffort","containerStatuses":)"
        R"([{{"name":"c","state":{{"running":{{}}}},"containerID":"containerd://{0}"}}]}}}})",
        name));
  }

  void start_kubelet(std::optional<net::ServerTls> tls = {}) {
    net::ServerOptions options;
    scheme_ = tls ? "https" : "http";
    options.tls = std::move(tls);
    net::Route route{.method = "GET", .pattern = "/pods"};
    route.handler = [this](net::Request request) { return answer(std::move(request)); };
    auto made = net::Server::listen({loop_.executor()}, std::move(options), {std::move(route)});
    PLIM_ASSERT(made);
    server_ = std::move(*made);
  }

  std::string url() const { return scheme_ + "://" + server_->address(); }

  // Answers the requests that wait, and the next ones at once.
  void let_answer() {
    is_slow = false;
    answers_.notify();
  }

  int asked = 0;
  int status = 200;
  bool is_slow = false;     // true: requests wait
  std::string user;         // of the last client certificate
  std::string refuse_user;  // 401 for this one

 private:
  Task<net::Reply> answer(net::Request request) {
    ++asked;
    user = request.peer.certificate_user;
    while (is_slow) co_await answers_.wait();
    std::string body = R"({"kind":"PodList","items":[)";
    for (std::size_t i = 0; i < pods_.size(); ++i) body += (i == 0 ? "" : ",") + pods_[i];
    const bool refused = !refuse_user.empty() && user == refuse_user;
    co_return net::Response{.status = refused ? 401 : status, .body = body + "]}"};
  }

  Loop& loop_;
  Event answers_;
  plim::testing::TempDir root_;
  std::string scheme_;
  std::vector<std::string> pods_;  // as JSON
  std::unique_ptr<net::Server> server_;
};

}  // namespace plim::agent::testing
