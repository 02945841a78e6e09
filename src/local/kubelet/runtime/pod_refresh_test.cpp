// Volumes of running pods follow their sources.
#include <filesystem>

#include "base/files.hpp"
#include "local/kubelet/runtime/testing/node_fixture.hpp"

namespace plim::local::kubelet {
namespace {

using namespace std::chrono_literals;

class PodRefresh : public testing::NodeTest {
 protected:
  static json::value map_with(std::string_view text) {
    return json::object{{"metadata", {{"name", "cm"}, {"namespace", "default"}}},
                        {"data", {{"greeting", text}}}};
  }

  // A pod with a ConfigMap and a token, which is ready.
  void start_pod() {
    const json::value account{{"metadata", {{"name", "default"}, {"namespace", "default"}}}};
    ASSERT_TRUE(
        run(client->create(kube::resources::service_accounts, {"default", "default"}, account)));
    ASSERT_TRUE(
        run(client->create(kube::resources::config_maps, {"default", "cm"}, map_with("old"))));
    start_node();
    create_pod("a", R"({"terminationGracePeriodSeconds":0,
        "containers":[{"name":"c","image":"busybox","command":["sleep","600"]}],
        "volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"cm"}},
          {"serviceAccountToken":{"path":"renewed-token","expirationSeconds":600}}]}}]})");
    follow("a", shows("Ready"));
  }

  // What a file of the volume contains; "" if there is none of this name.
  std::string content(std::string_view name) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path()))
      if (entry.path().filename() == name && !entry.is_directory())
        return read_file(entry.path().string()).value_or("");
    return "";
  }

  // Advances the clock, a second at a time, and lets the node do what is due.
  void pass(Nanos time) {
    for (const SteadyTime end = clock.steady() + time; clock.steady() < end;) {
      clock.advance(1s);
      for (int turn = 0; turn < 20; ++turn) loop.run_ready();
    }
  }

  // The store and the node finish what they do; takes no time of the clock.
  bool comes(const std::function<bool()>& condition) {
    for (int turn = 0; turn < 10'000 && !condition(); ++turn) {
      loop.run_ready();
      ::usleep(1000);
    }
    return condition();
  }
};

TEST_F(PodRefresh, writes_a_changed_config_map_within_a_minute) {
  start_pod();
  ASSERT_EQ(content("greeting"), "old");
  ASSERT_TRUE(run(client->patch(kube::resources::config_maps, {"default", "cm"},
                                kube::PatchType::merge, map_with("new"))));
  pass(61s);
  EXPECT_TRUE(comes([this] { return content("greeting") == "new"; })) << content("greeting");
}

TEST_F(PodRefresh, replaces_a_token_before_it_expires) {
  start_pod();
  const std::string first = content("renewed-token");
  ASSERT_NE(first, "");
  pass(7min);
  EXPECT_EQ(content("renewed-token"), first);
  pass(2min);
  EXPECT_TRUE(comes([&] { return content("renewed-token") != first; }));
  EXPECT_NE(content("renewed-token"), "");
}

}  // namespace
}  // namespace plim::local::kubelet
