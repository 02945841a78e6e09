#include "local/kubelet/nodes/cri_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/images/image_catalog.hpp"
#include "local/kubelet/nodes/cri_messages.hpp"
#include "net/rpc.hpp"
#include "net/x509.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CriServerTest : public ::testing::Test {
 protected:
  CriServerTest() {
    images::ImageCatalog catalog(
        {.policy = images::ImagePolicy::strict, .program = "", .version = "1"});
    EXPECT_TRUE(catalog.add_yaml(
        "images: {'app:1': {digest: 'sha256:aa', layers: [{digest: 'sha256:base', size: 700M},"
        " {digest: 'sha256:one', size: 100M}]}}",
        "c"));
    images_ = make_node_images(loop_.executor(), clock_,
                               std::make_shared<const images::ImageCatalog>(std::move(catalog)));
    for (const auto& own : images_->list()) EXPECT_TRUE(images_->remove(own->name));
    server_ = *CriServer::start(loop_.executor(), clock_, dir_ / "cri.sock", *images_);
  }

  ~CriServerTest() override {
    run_to_end(loop_, tasks_.stop());
    run_to_end(loop_, server_->stop());
  }

  std::string call(std::string method, std::string request = "") {
    auto reply = run_to_end(loop_, channel_->call(std::move(method), std::move(request), 5s));
    EXPECT_TRUE(reply.status.ok()) << reply.status.message;
    return reply.body;
  }

  Task<std::string> first_of_stream() {
    auto reader = co_await channel_->open("/containerd.services.content.v1.Content/List", "", 5s);
    std::string out;
    co_await reader->next(out);
    co_return out;
  }

  Task<void> pull() {
    std::function<void()> nothing;
    auto pulled = co_await images_->ensure("app:1", images::PullPolicy::always, nothing);
    EXPECT_TRUE(pulled);
  }

  plim::testing::TempDir dir_;
  Loop loop_;
  FakeClock clock_;
  std::unique_ptr<images::NodeImages> images_;
  std::unique_ptr<CriServer> server_;
  std::shared_ptr<net::Channel> channel_ =
      net::Channel::unix_socket(loop_.executor(), dir_ / "cri.sock");
  TaskGroup tasks_{loop_.executor()};
};

TEST_F(CriServerTest, lists_images) {
  EXPECT_THAT(*describe_images(call("/runtime.v1.ImageService/ListImages")), ElementsAre());
  ASSERT_TRUE(images_->load("app:1"));
  EXPECT_THAT(*describe_images(call("/runtime.v1.ImageService/ListImages")),
              ElementsAre("sha256: docker.io/library/app:1|1 800000000"));
  EXPECT_FALSE(call("/runtime.v1.RuntimeService/Version").empty());
}

TEST_F(CriServerTest, reports_one_image) {
  ASSERT_TRUE(images_->load("app:1"));
  auto ask = [this](std::string name, bool verbose) {
    return *describe_image_status(
        call("/runtime.v1.ImageService/ImageStatus", encode_image_status_request({name, verbose})));
  };
  EXPECT_EQ(ask("app:1", false), "docker.io/library/app:1");
  EXPECT_THAT(ask("sha256:aa", true), HasSubstr(R"("diff_ids":["sha256:base","sha256:one"])"));
  EXPECT_EQ(ask("other", false), "");
}

TEST_F(CriServerTest, shows_layers_with_their_sizes) {
  ASSERT_TRUE(images_->load("app:1"));
  const auto blobs = *describe_content(run_to_end(loop_, first_of_stream()));
  EXPECT_THAT(blobs, ElementsAre(AllOf(StartsWith("sha256:aa 1000"),
                                       HasSubstr("containerd.io/gc.ref.content.l.1=sha256:one")),
                                 StartsWith("sha256:"),
                                 "sha256:base 700000000 containerd.io/uncompressed=sha256:base",
                                 "sha256:one 100000000 containerd.io/uncompressed=sha256:one"));
}

TEST_F(CriServerTest, shows_pulls_in_progress) {
  tasks_.spawn("pull", pull());
  loop_.run_ready();
  clock_.advance(20ms);
  loop_.run_ready();
  clock_.advance(3500ms);
  EXPECT_THAT(*describe_statuses(call("/containerd.services.content.v1.Content/ListStatuses")),
              ElementsAre("layer-sha256:base 350000000/700000000"));
}

}  // namespace
}  // namespace plim::local::kubelet
