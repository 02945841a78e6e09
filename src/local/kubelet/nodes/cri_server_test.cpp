#include "local/kubelet/nodes/cri_server.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/images/image_catalog.hpp"
#include "local/kubelet/nodes/cri_messages.hpp"
#include "local/kubelet/nodes/cri_pods.hpp"
#include "net/rpc.hpp"
#include "net/x509.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kCriPod = R"({
  "metadata":{"name":"web","namespace":"prod","uid":"aa-1","labels":{"app":"web"}},
  "spec":{"containers":[{"name":"c","image":"app:1"}]},
  "status":{"phase":"Running","startTime":"2023-11-14T22:13:10Z","podIP":"127.32.1.2"}})";

struct CriPods final : KubeletPods {
  std::vector<json::value> pods() const override { return shown; }

  std::vector<ContainerRun> runs() const override {
    std::vector<ContainerRun> out;
    for (int restart = 0; restart < 3; ++restart) {
      ContainerRun run{.ns = "prod",
                       .pod = "web",
                       .uid = "aa-1",
                       .container = "c",
                       .container_id = fmt::format("{}c0ffee", restart)};
      run.restart = restart;
      run.started_wall = WallTime(std::chrono::seconds(10 + restart));
      if (restart < 2) run.finished_wall = run.started_wall + 1ms;
      out.push_back(run);
    }
    ContainerRun gone = out[0];  // of a pod that was deleted
    gone.uid = "bb-2";
    out.push_back(gone);
    return out;
  }

  Task<Result<void>> read_log(std::string, std::string, std::string, LogOptions,
                              std::function<bool(std::string)>) override {
    co_return Result<void>();
  }

  std::vector<json::value> shown = {*parse_json(kCriPod)};
};

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
    server_ = *CriServer::start(loop_.executor(), clock_,
                                {.socket = dir_ / "cri.sock", .version = "1"}, *images_, pods_);
  }

  void TearDown() override {
    run_to_end(loop_, tasks_.stop());
    run_to_end(loop_, server_->stop());
    EXPECT_FALSE(std::filesystem::exists(dir_ / "cri.sock"));
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
  CriPods pods_;
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
  auto ask = [this](const std::string& name, bool verbose) {
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

TEST_F(CriServerTest, lists_the_last_two_runs_of_each_container_of_its_pods) {
  const auto list = [this](const std::string& id, bool running) {
    return *describe_containers(call("/runtime.v1.RuntimeService/ListContainers",
                                     encode_list_containers_request(id, running)));
  };
  EXPECT_THAT(list("", false),
              ElementsAre("c 2 CONTAINER_RUNNING app:1 web", "c 1 CONTAINER_EXITED app:1 web"));
  EXPECT_THAT(list("", true), ElementsAre("c 2 CONTAINER_RUNNING app:1 web"));
  EXPECT_THAT(list("1c0f", false), ElementsAre("c 1 CONTAINER_EXITED app:1 web"));
  EXPECT_THAT(list("9", false), ElementsAre());
}

TEST_F(CriServerTest, lists_pods_with_their_state) {
  const auto list = [this] {
    return *describe_sandboxes(call("/runtime.v1.RuntimeService/ListPodSandbox"));
  };
  EXPECT_THAT(list(), ElementsAre("prod/web SANDBOX_READY"));
  pods_.shown[0].as_object()["status"].as_object()["phase"] = "Succeeded";
  EXPECT_THAT(list(), ElementsAre("prod/web SANDBOX_NOTREADY"));
}

TEST_F(CriServerTest, reports_changes_of_images) {
  std::vector<std::string> events;
  const auto read = [](net::Channel* channel, std::vector<std::string>* out) -> Task<void> {
    auto reader = co_await channel->open("/containerd.services.events.v1.Events/Subscribe", "",
                                         net::kNoDeadline);
    std::string message;
    while (co_await reader->next(message)) out->push_back(message);
  };
  const auto arrived = [](std::vector<std::string>* all, std::size_t count) -> Task<void> {
    while (all->size() < count) co_await yield_to_loop();
  };
  tasks_.spawn("events", read(channel_.get(), &events));
  run_to_end(loop_, arrived(&events, 1));  // the fixture has changed the images
  ASSERT_TRUE(images_->load("app:1"));
  run_to_end(loop_, arrived(&events, 2));
  EXPECT_THAT(events[1], HasSubstr("/images/update"));
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
