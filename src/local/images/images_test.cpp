#include "local/images/images.hpp"

#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "local/images/image_catalog.hpp"

namespace plim::local::images {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kCatalog = R"(
images:
  app:1:
    layers: [{digest: base, size: 700M}, {digest: one, size: 100M}]
    config: {entrypoint: [/app], env: {A: b}, stopSignal: SIGINT, workingDir: /w, cmd: [x]}
    rootfs: /srv/app
  app:2:
    layers: [{digest: base, size: 700M}, {digest: two, size: 100M}]
  slow.example/x:
    layers: [{digest: slow, size: 10M}]
    bandwidth: 1M
)";

class NodeImagesTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const ImageCatalog> catalog(ImagePolicy policy = ImagePolicy::strict) {
    ImageCatalog out({.policy = policy, .program = "/proc/self/exe", .version = "0.1.0"});
    EXPECT_TRUE(out.add_yaml(kCatalog, "catalog.yaml"));
    return std::make_shared<const ImageCatalog>(std::move(out));
  }

  Task<void> into(std::optional<Result<Pulled>>& out, NodeImages& images, std::string name,
                  PullPolicy policy) {
    auto started = [this] { ++started_; };
    std::function<void()> callback = started;
    out = co_await images.ensure(std::move(name), policy, std::move(callback));
  }

  void begin(std::optional<Result<Pulled>>& out, std::string name,
             PullPolicy policy = PullPolicy::if_not_present) {
    tasks_.spawn("pull", into(out, *images_, std::move(name), policy));
    loop_.run_ready();
  }

  Result<Pulled> pull(std::string name, PullPolicy policy = PullPolicy::if_not_present) {
    std::optional<Result<Pulled>> out;
    begin(out, std::move(name), policy);
    while (!out && clock_.advance_to_next()) loop_.run_ready();
    return std::move(*out);
  }

  void advance(Nanos duration) {
    const SteadyTime until = clock_.steady() + duration;
    while (clock_.steady() < until) {
      clock_.advance(std::min<Nanos>(until - clock_.steady(), 10ms));
      loop_.run_ready();
    }
  }

  void TearDown() override { run_to_end(loop_, tasks_.stop()); }

  Loop loop_;
  FakeClock clock_;
  int started_ = 0;
  std::unique_ptr<NodeImages> images_ = make_node_images(loop_.executor(), clock_, catalog());
  TaskGroup tasks_{loop_.executor()};
};

TEST_F(NodeImagesTest, transfers_shared_layers_once) {
  const auto first = pull("app:1");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, 800'000'000);
  EXPECT_EQ(first->took, 8040ms);
  EXPECT_FALSE(first->was_present);
  const auto second = pull("app:2");
  EXPECT_EQ(second->bytes, 100'000'000);
  EXPECT_EQ(second->took, 1020ms);
  EXPECT_EQ(started_, 2);
  const auto again = pull("docker.io/library/app:1");
  EXPECT_TRUE(again->was_present);
  EXPECT_EQ(again->took, 0ms);
  EXPECT_EQ(started_, 2);
  auto other = make_node_images(loop_.executor(), clock_, catalog());
  std::swap(images_, other);
  EXPECT_EQ(pull("app:2")->bytes, 800'000'000);
}

TEST_F(NodeImagesTest, returns_the_image_with_its_configuration) {
  const auto pulled = pull("app:1");
  EXPECT_EQ(pulled->image->name, "docker.io/library/app:1");
  EXPECT_EQ(pulled->image->entrypoint, std::vector<std::string>{"/app"});
  EXPECT_EQ(pulled->image->command, std::vector<std::string>{"x"});
  EXPECT_EQ(pulled->image->env.at(0).second, "b");
  EXPECT_EQ(pulled->image->working_dir, "/w");
  EXPECT_EQ(pulled->image->stop_signal, "SIGINT");
  EXPECT_EQ(pulled->image->rootfs, "/srv/app");
}

TEST_F(NodeImagesTest, runs_one_pull_after_the_other) {
  std::optional<Result<Pulled>> first, second, third;
  begin(first, "app:1");
  begin(second, "app:2");
  begin(third, "app:1");
  advance(8040ms);
  ASSERT_TRUE(first);
  EXPECT_FALSE(second);
  advance(1020ms);
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->took, 1020ms);
  EXPECT_EQ((*second)->took_with_waiting, 9060ms);
  advance(20ms);
  ASSERT_TRUE(third);
  EXPECT_TRUE((*third)->was_present);
  EXPECT_EQ((*third)->bytes, 0);
}

TEST_F(NodeImagesTest, shares_bandwidth_between_pulls_at_once) {
  images_ = make_node_images(loop_.executor(), clock_, catalog(ImagePolicy::any),
                             {.per_layer = 0ms, .at_once = 2});
  std::optional<Result<Pulled>> first, second;
  begin(first, "a");
  begin(second, "b");
  advance(1900ms);
  EXPECT_FALSE(first);
  const auto moving = images_->moving();
  ASSERT_EQ(moving.size(), 2u);
  EXPECT_NEAR(static_cast<double>(moving[0].moved), 5e6, 1e6);
  advance(110ms);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST_F(NodeImagesTest, waits_for_a_layer_of_another_pull) {
  images_ = make_node_images(loop_.executor(), clock_, catalog(), {.per_layer = 0ms, .at_once = 2});
  std::optional<Result<Pulled>> first, second;
  begin(first, "app:1");
  begin(second, "app:2");
  advance(8s + 1010ms);
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*first)->bytes + (*second)->bytes, 900'000'000);
}

TEST_F(NodeImagesTest, frees_its_turn_when_a_pull_is_cancelled) {
  std::optional<Result<Pulled>> first, second;
  auto handle = tasks_.spawn("pull", into(first, *images_, "app:1", PullPolicy::always));
  loop_.run_ready();
  begin(second, "slow.example/x");
  advance(7100ms);
  handle.cancel();
  loop_.run_ready();
  advance(10020ms);
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->took, 10020ms) << "its registry gives 1 MB/s";
  EXPECT_EQ(pull("app:1")->bytes, 100'000'000) << "the first layer had arrived";
}

TEST_F(NodeImagesTest, follows_the_pull_policies) {
  EXPECT_EQ(pull("app:1", PullPolicy::never).error().code, Code::forbidden);
  EXPECT_EQ(started_, 0);
  ASSERT_TRUE(images_->load("app:1"));
  EXPECT_TRUE(pull("app:1", PullPolicy::never)->was_present);
  const auto checked = pull("app:1", PullPolicy::always);
  EXPECT_TRUE(checked->was_present);
  EXPECT_EQ(checked->took, 20ms);
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(pull("unknown").error().code, Code::not_found);
  EXPECT_EQ(pull("Bad Name").error().code, Code::invalid);
}

TEST_F(NodeImagesTest, scales_time) {
  images_ = make_node_images(loop_.executor(), clock_, catalog(), {.speedup = 100});
  EXPECT_EQ(pull("app:1")->took, 80400us);
}

TEST_F(NodeImagesTest, removes_layers_with_their_last_image) {
  int changes = 0;
  images_->on_change([&] { ++changes; });
  ASSERT_TRUE(images_->load("app:1"));
  ASSERT_TRUE(images_->load("app:2"));
  ASSERT_TRUE(images_->remove("app:1"));
  EXPECT_EQ(images_->remove("app:1").error().code, Code::not_found);
  EXPECT_EQ(changes, 3);
  EXPECT_EQ(pull("app:1")->bytes, 100'000'000);
}

TEST_F(NodeImagesTest, wakes_every_reader_of_changes) {
  std::vector<std::uint64_t> seen;
  const auto wait = [](const NodeImages* images, std::vector<std::uint64_t>* out) -> Task<void> {
    std::uint64_t last = 0;
    for (int i = 0; i < 2; ++i) {
      last = co_await images->changed_since(last);
      out->push_back(last);
    }
  };
  tasks_.spawn("one", wait(images_.get(), &seen));
  tasks_.spawn("two", wait(images_.get(), &seen));
  loop_.run_ready();
  EXPECT_TRUE(seen.empty());
  ASSERT_TRUE(images_->load("app:1"));
  loop_.run_ready();
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 1}));
  ASSERT_TRUE(images_->remove("app:1"));
  loop_.run_ready();
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 1, 2, 2}));
}

TEST_F(NodeImagesTest, does_not_call_a_replaced_callback) {
  int before = 0, now = 0;
  images_->on_change([&] { ++before; });
  images_->on_change([&] { ++now; });
  ASSERT_TRUE(images_->load("app:1"));
  EXPECT_EQ(std::pair(before, now), std::pair(0, 1));
  images_->on_change({});
  ASSERT_TRUE(images_->load("app:2"));
  EXPECT_EQ(now, 1);
}

TEST_F(NodeImagesTest, has_our_own_images_from_the_start) {
  const auto tools = pull("plimsoll/tools");
  EXPECT_TRUE(tools->was_present);
  EXPECT_EQ(tools->image->entrypoint, (std::vector<std::string>{"/proc/self/exe", "tools"}));
  EXPECT_TRUE(pull("plimsoll:0.1.0")->was_present);
  EXPECT_EQ(pull("plimsoll:9").error().code, Code::not_found);
}

TEST_F(NodeImagesTest, are_reported_as_a_kubelet_does) {
  ASSERT_TRUE(images_->load("app:1"));
  ASSERT_TRUE(images_->load("slow.example/x"));
  const json::array status = images_status(images_->list(), 2);
  ASSERT_EQ(status.size(), 2u);
  const json::value& first = status[0];
  EXPECT_EQ(first.at("sizeBytes"), 800'000'000);
  EXPECT_EQ(first.at("names").as_array().size(), 2u);
  EXPECT_TRUE(first.at("names").at(0).as_string().starts_with("docker.io/library/app@sha256:"));
  EXPECT_EQ(first.at("names").at(1), "docker.io/library/app:1");
  EXPECT_EQ(images_status(images_->list(), -1).size(), 4u);
  std::vector<std::shared_ptr<const Image>> many;
  for (int i = 0; i < 9; ++i)
    many.push_back(std::make_shared<Image>(Image{fmt::format("r/x:{}", i), "sha256:same", {}}));
  EXPECT_EQ(images_status(many).size(), 1u);
  EXPECT_EQ(images_status(many)[0].at("names").as_array().size(), 5u);
}

TEST(ImageCatalog, invents_unknown_images_when_it_may) {
  const ImageCatalog catalog({.policy = ImagePolicy::any, .program = "", .version = ""});
  const auto found = catalog.find("nginx");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image->layers.size(), 3u);
  EXPECT_EQ(found->image->bytes(), 100'000'000);
  EXPECT_EQ(found->image->digest, catalog.find("docker.io/nginx:latest")->image->digest);
  EXPECT_NE(found->image->digest, catalog.find("nginx:1")->image->digest);
}

TEST(ImageCatalog, lists_the_nodes_that_have_an_image_from_the_start) {
  ImageCatalog catalog({.policy = ImagePolicy::any, .program = "", .version = ""});
  ASSERT_TRUE(catalog.add_yaml(R"(
images:
  a:1: {nodes: [n1, "sim-*7"]}
  b:1: {nodes: ["*"]}
  c:1: {nodes: ["sim-?"]}
  d:1: {}
)",
                               "c"));
  const auto names = [&](std::string_view node) {
    std::string out;
    for (const auto& image : catalog.present_on(node)) out += image->name.substr(18, 1);
    return out;
  };
  EXPECT_EQ(names("n1"), "ab");
  EXPECT_EQ(names("n2"), "b");
  EXPECT_EQ(names("sim-7"), "abc");
  EXPECT_EQ(names("sim-17"), "ab");
  EXPECT_EQ(names("sim-71"), "b");
  EXPECT_FALSE(catalog.add_yaml("images: {e: {nodes: ['*a*a*a*a']}}", "c"));
}

TEST(ImageCatalog, finds_by_digest) {
  ImageCatalog catalog({.policy = ImagePolicy::strict, .program = "", .version = ""});
  ASSERT_TRUE(catalog.add_yaml(kCatalog, "c"));
  const auto by_tag = catalog.find("app:1");
  EXPECT_EQ(catalog.find("app@" + by_tag->image->digest)->image, by_tag->image);
}

TEST(ImageCatalog, reports_the_position_of_a_mistake) {
  ImageCatalog catalog({.policy = ImagePolicy::any, .program = "", .version = ""});
  auto message = [&](std::string_view text) {
    return catalog.add_yaml(text, "c.yaml").error().message;
  };
  EXPECT_EQ(message("images:\n  a:\n    layres: []\n"), "c.yaml:3:5: unknown field \"layres\"");
  EXPECT_EQ(message("images:\n  A B: {}\n"), "c.yaml:2:3: \"A B\" is not a valid image name");
  EXPECT_EQ(message("images:\n  a:\n    layers:\n    - {digest: x, size: many}\n"),
            "c.yaml:4:25: expected a size such as 700Mi");
  EXPECT_EQ(message("images: [a]"), "c.yaml:1:9: expected a map of images");
  EXPECT_TRUE(catalog.add_yaml("", "c.yaml"));
}

TEST(ImageName, is_normalised) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(normalise_image("busybox"), "docker.io/library/busybox:latest");
  EXPECT_EQ(normalise_image("plimsoll/tools:1"), "docker.io/plimsoll/tools:1");
  EXPECT_EQ(normalise_image("index.docker.io/a/b"), "docker.io/a/b:latest");
  EXPECT_EQ(normalise_image("localhost/a"), "localhost/a:latest");
  EXPECT_EQ(normalise_image("GHCR.io:5000/a/b:V1"), "ghcr.io:5000/a/b:V1");
  EXPECT_EQ(normalise_image("a:1@" + digest), "docker.io/library/a@" + digest);
  for (std::string_view bad : {"", "a b", "A", "a:", "a@sha256:12", "/a", "a//b", "a:.x", "-a"})
    EXPECT_EQ(normalise_image(bad), "") << bad;
}

}  // namespace
}  // namespace plim::local::images
