#include "roles/measure_module.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::roles {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// On a host whose only cgroup is "a".
class MeasuringModule : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* controller : {"cpu", "cpuacct", "memory"})
      ASSERT_TRUE(make_directories(fmt::format("{}/sys/fs/cgroup/{}/a", root_, controller)));
    put("cpuacct/a/cpuacct.usage", "1000\n");
    put("cpu/a/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    put("memory/a/memory.usage_in_bytes", "4096\n");
  }

  void put(const std::string& file, const std::string& text) {
    ASSERT_TRUE(write_file(fmt::format("{}/sys/fs/cgroup/{}", root_, file), text));
  }

  // The address in the file shows which configuration is in use.
  void configure(const std::string& address) {
    ASSERT_TRUE(write_file(path_, fmt::format("runner: !MeasurementRunner\n"
                                              "  interval: 0.01\n"
                                              "  node: !StaticNode {{tasks: [a]}}\n"
                                              "  metrics_storage: !PrometheusEndpoint\n"
                                              "    listen: {}\n",
                                              address)));
  }

  MeasureModule module(std::uint64_t iterations = 0) {
    const agent::GetEnv env = [](const std::string&) { return std::nullopt; };
    auto loaded = agent::load_config(path_, env);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    MeasureSettings settings{.config_path = path_,
                             .env = env,
                             .config = std::move(loaded->config),
                             .runner = {.host_root = root_, .iterations = iterations}};
    return MeasureModule(std::move(settings), AgentModules::Company::others, kUsual);
  }

  Result<void> start(MeasureModule& module) {
    ModuleHost host{.loop = loop_.executor(),
                    .give_up = [this](Error error) { failures_.push_back(error.message); },
                    .finish = [this] { finished_ = true; },
                    .listen = [this](Addresses wanted) { return listen(std::move(wanted)); }};
    return run_to_end(loop_, module.start(std::move(host)));
  }

  Task<Result<void>> listen(Addresses wanted) {
    shown_at_ = wanted;
    if (wanted == Addresses{taken_}) co_return fail(Code::invalid, "it is taken");
    co_return Result<void>();
  }

  void wait_until(std::function<bool()> holds) {
    EXPECT_TRUE(run_to_end(loop_, look(std::move(holds))));
  }

  static Task<bool> look(std::function<bool()> holds) {
    const SteadyTime deadline = system_clock().steady() + std::chrono::seconds(20);
    while (!holds() && system_clock().steady() < deadline)
      co_await system_clock().sleep(std::chrono::milliseconds(1));
    co_return holds();
  }

  static constexpr const char* kUsual = "127.0.0.1:1";
  testing::TempDir place_;
  std::string root_ = place_.path() + "/root", path_ = place_.path() + "/config.yaml";
  std::string taken_;
  Loop loop_;
  Addresses shown_at_;
  std::vector<std::string> failures_;
  bool finished_ = false;
};

TEST_F(MeasuringModule, finishes_after_the_iterations_asked_for) {
  configure("127.0.0.1:2");
  MeasureModule measure = module(3);
  EXPECT_TRUE(measure.is_vital());
  EXPECT_EQ(measure.not_ready(), "measure: no iteration yet");
  ASSERT_TRUE(start(measure));
  EXPECT_THAT(shown_at_, ElementsAre("127.0.0.1:2"));
  wait_until([this] { return finished_; });
  run_to_end(loop_, measure.stop());
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(MeasuringModule, shows_what_it_measured_at_its_address) {
  configure("127.0.0.1:2");
  MeasureModule measure = module();
  EXPECT_FALSE(measure.is_vital());
  ASSERT_TRUE(start(measure));
  wait_until([&] { return measure.not_ready().empty(); });
  ASSERT_NE(measure.metrics("127.0.0.1:2"), nullptr);
  EXPECT_NE(measure.metrics("127.0.0.1:2")->find("task_up{"), std::string::npos);
  EXPECT_EQ(measure.metrics(kUsual), nullptr);
  EXPECT_TRUE(measure.alive());
  run_to_end(loop_, measure.stop());
  EXPECT_EQ(measure.metrics("127.0.0.1:2"), nullptr);
}

TEST_F(MeasuringModule, takes_over_a_changed_file) {
  configure("127.0.0.1:2");
  MeasureModule measure = module();
  ASSERT_TRUE(start(measure));
  configure("127.0.0.1:3");
  measure.reload();
  wait_until([&] { return measure.metrics("127.0.0.1:3") != nullptr; });
  EXPECT_THAT(shown_at_, ElementsAre("127.0.0.1:3"));
  run_to_end(loop_, measure.stop());
}

TEST_F(MeasuringModule, keeps_the_old_file_if_the_new_one_has_mistakes_or_cannot_run) {
  configure("127.0.0.1:2");
  MeasureModule measure = module();
  ASSERT_TRUE(start(measure));
  ASSERT_TRUE(write_file(path_, "runner: !Unknown\n"));
  measure.reload();
  loop_.run_ready();
  EXPECT_THAT(measure.addresses(), ElementsAre("127.0.0.1:2"));
  taken_ = "127.0.0.1:3";
  configure(taken_);
  measure.reload();
  wait_until([&] { return measure.metrics("127.0.0.1:2") != nullptr; });
  EXPECT_THAT(shown_at_, ElementsAre("127.0.0.1:2"));
  EXPECT_THAT(failures_, IsEmpty());
  run_to_end(loop_, measure.stop());
}

TEST_F(MeasuringModule, starts_with_the_file_that_was_fixed_while_it_was_down) {
  taken_ = "127.0.0.1:2";
  configure(taken_);
  MeasureModule measure = module();
  const auto failed = start(measure);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "it is taken");
  run_to_end(loop_, measure.stop());
  configure("127.0.0.1:3");
  measure.reload();
  ASSERT_TRUE(start(measure));
  wait_until([&] { return measure.metrics("127.0.0.1:3") != nullptr; });
  run_to_end(loop_, measure.stop());
}

}  // namespace
}  // namespace plim::roles
