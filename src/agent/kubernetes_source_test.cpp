#include "agent/kubernetes_source.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "agent/testing/fake_node.hpp"
#include "base/files.hpp"
#include "net/x509.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::agent {
namespace {

using namespace std::chrono_literals;

class KubernetesSourceTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (source_) run_to_end(loop_, source_->stop());
  }

  void start(double sync_interval = 5) {
    config_.kubelet_endpoint = node_.url();
    config_.sync_interval = sync_interval;
    auto made = make_kubernetes_source(loop_.executor(), clock_, config_, 1, mounts_);
    ASSERT_TRUE(made);
    source_ = std::move(*made);
    source_->start();
    if (sync_interval > 0) settle();
  }

  // Runs until the source sleeps: every request that was due has its answer.
  void settle() {
    for (int turns = 0; clock_.sleepers() == 0; ++turns) {
      if (turns == 100'000) throw std::runtime_error("the source does not sleep");
      loop_.run_ready();
    }
  }

  // The time until the next request. The source looks at directories every half second.
  Nanos wait_for_request() {
    const int before = node_.asked;
    Nanos out{0};
    for (; node_.asked == before && out < 2min; out += 500ms) pass(500ms);
    return out;
  }

  void pass(Nanos time) {
    clock_.advance(time);
    settle();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    if (const TaskList tasks = source_->tasks())
      for (const NodeTask& task : *tasks) out.push_back(task.name);
    return out;
  }

  Loop loop_;
  FakeClock clock_;
  testing::FakeNode node_{loop_};
  node::CgroupMounts mounts_ = node::CgroupMounts::from(node::detect_cgroups(node_.root()));
  KubernetesNodeConfig config_;
  std::unique_ptr<TaskSource> source_;
};

TEST_F(KubernetesSourceTest, asks_for_the_pods_every_interval) {
  node_.start_kubelet();
  node_.run_pod("a");
  start();
  EXPECT_EQ(names(), std::vector<std::string>{"default/a"});
  EXPECT_TRUE(source_->ready());
  EXPECT_EQ(wait_for_request(), Nanos(5s));
  EXPECT_EQ(wait_for_request(), Nanos(5s));
  EXPECT_EQ(source_->age_seconds(), 0);
}

TEST_F(KubernetesSourceTest, asks_soon_and_often_after_a_new_pod) {
  node_.start_kubelet();
  node_.make_cgroup("/kubepods/besteffort");
  start();
  pass(500ms);
  node_.run_pod("a");
  EXPECT_EQ(wait_for_request(), Nanos(500ms));
  EXPECT_EQ(names(), std::vector<std::string>{"default/a"});
  EXPECT_EQ(wait_for_request(), Nanos(500ms)) << "its containers may come later";
  pass(5s);
  (void)wait_for_request();
  EXPECT_EQ(wait_for_request(), Nanos(5s));
}

TEST_F(KubernetesSourceTest, keeps_the_last_list_and_waits_longer_while_the_kubelet_fails) {
  node_.start_kubelet();
  node_.run_pod("a");
  start();
  node_.status = 503;
  EXPECT_EQ(wait_for_request(), Nanos(5s));
  EXPECT_EQ(source_->failure(), "http_5xx");
  for (const Nanos wait : {1s, 2s, 4s, 8s, 16s, 30s, 30s})
    EXPECT_EQ(wait_for_request(), Nanos(wait));
  EXPECT_EQ(names(), std::vector<std::string>{"default/a"});
  EXPECT_EQ(source_->age_seconds(), 96);
  EXPECT_EQ(source_->errors().at("http_5xx"), 8u);
  node_.status = 200;
  EXPECT_EQ(wait_for_request(), Nanos(30s));
  EXPECT_EQ(source_->failure(), "");
  EXPECT_EQ(wait_for_request(), Nanos(5s));
}

TEST_F(KubernetesSourceTest, reads_its_certificate_again_when_the_old_one_is_refused) {
  const WallTime now = system_clock().wall();
  const net::KeyPair authority = *net::make_authority("test", now - 1h, now + 24h);
  const auto issue = [&](net::CertificateRequest request) {
    request.not_before = now - 1h;
    request.not_after = now + 24h;
    return *net::issue_certificate(authority, request);
  };
  const auto write_certificate = [&](std::string name) {
    const net::KeyPair pair = issue({.common_name = std::move(name), .client = true});
    EXPECT_TRUE(write_file(node_.root() + "/cert.pem", pair.certificate_pem));
    EXPECT_TRUE(write_file(node_.root() + "/key.pem", pair.key_pem));
  };
  const net::KeyPair serving =
      issue({.common_name = "kubelet", .ip_addresses = {"127.0.0.1"}, .server = true});
  ASSERT_TRUE(write_file(node_.root() + "/ca.pem", authority.certificate_pem));
  config_.ssl = SslConfig{.ca_path = node_.root() + "/ca.pem",
                          .certificate_path = node_.root() + "/cert.pem",
                          .key_path = node_.root() + "/key.pem"};
  node_.start_kubelet(net::ServerTls{.certificate_pem = serving.certificate_pem,
                                     .key_pem = serving.key_pem,
                                     .client_ca_pem = authority.certificate_pem});
  write_certificate("first");
  start();
  EXPECT_EQ(node_.user, "first");
  EXPECT_EQ(source_->failure(), "");
  write_certificate("second");
  node_.refuse_user = "first";
  (void)wait_for_request();
  EXPECT_EQ(source_->failure(), "http_401");
  (void)wait_for_request();
  EXPECT_EQ(node_.user, "second");
  EXPECT_EQ(source_->failure(), "");
}

TEST_F(KubernetesSourceTest, asks_before_each_iteration_if_the_interval_is_zero) {
  node_.start_kubelet();
  start(0);
  run_to_end(loop_, source_->prepare(false));
  run_to_end(loop_, source_->prepare(false));
  EXPECT_EQ(node_.asked, 2);
  node_.status = 500;
  run_to_end(loop_, source_->prepare(false));
  run_to_end(loop_, source_->prepare(false));
  EXPECT_EQ(node_.asked, 3) << "it waits after a failure";
  clock_.advance(1s);
  run_to_end(loop_, source_->prepare(false));
  EXPECT_EQ(node_.asked, 4);
}

}  // namespace
}  // namespace plim::agent
