#include "starter/plan.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

bool no_cores(unsigned, CpuSet*) {
  return false;
}

// Siblings are 40 apart.
bool cores_of_40(unsigned cpu, CpuSet* core) {
  cpu_add(core, cpu % 40);
  cpu_add(core, cpu % 40 + 40);
  return true;
}

class StarterPlan : public ::testing::Test {
 protected:
  ~StarterPlan() override {
    free_all(&plan_.memory);
    free_all(&element_.memory);
  }

  bool plan(std::vector<const char*> environment, std::string processes, CoreOf cores = no_cores) {
    json_ = R"([{"container": "c", "processes": [)" + processes + "]}]";
    environment.push_back(nullptr);
    return read_element(json_.data(), "c", &element_, &message_) &&
           plan_processes(&element_, environment.data(), cores, &plan_, &message_);
  }

  std::string cpus(std::size_t start) {
    char text[64];
    cpu_print_ranges(&plan_.starts[start].cpus, text, sizeof text);
    return text;
  }

  std::string variable(std::size_t start, const char* name) {
    const char* value = value_in(plan_.starts[start].envp, name);
    return value ? value : "none";
  }

  std::string json_;
  Element element_{};
  Plan plan_{};
  Message message_{};
};

std::string process(const std::string& pool, int cpus, const std::string& more = "") {
  return R"({"process": "a", "pool": ")" + pool + R"(", "cpus": )" + std::to_string(cpus) + more +
         "}";
}

TEST_F(StarterPlan, gives_each_process_cpus_of_its_own) {
  ASSERT_TRUE(
      plan({"EXCLUSIVE_CPUS=4,5", "SHARED_CPUS=1"},
           process("pool", 1) + "," + process("pool", 1) + "," + process("sharedpool", 100)))
      << message_.text;
  EXPECT_EQ(cpus(0), "4");
  EXPECT_EQ(cpus(1), "5");
  EXPECT_EQ(cpus(2), "1");
  EXPECT_EQ(variable(1, "PROCESS_CPUS"), "5");
}

TEST_F(StarterPlan, prefers_the_variable_of_the_pool) {
  ASSERT_TRUE(plan({"EXCLUSIVE_CPUS=9", "PLIMSOLL_CPUS_POOL_A_1=2-4", "PLIMSOLL_CPUS_INFRA=6,7",
                    "PLIMSOLL_SHARED_INFRA=1"},
                   process("pool-a.1", 2) + "," + process("infra", 5) + "," + process("infra", 5)))
      << message_.text;
  EXPECT_EQ(cpus(0), "2-3");
  EXPECT_EQ(cpus(1), "6-7");
  EXPECT_EQ(cpus(2), "6-7");
}

TEST_F(StarterPlan, keeps_the_siblings_of_a_core_together) {
  ASSERT_TRUE(
      plan({"PLIMSOLL_CPUS_P=22,35,62,75"}, process("p", 2) + "," + process("p", 2), cores_of_40))
      << message_.text;
  EXPECT_EQ(cpus(0), "22,62");
  EXPECT_EQ(cpus(1), "35,75");
}

TEST_F(StarterPlan, is_refused_when_cpus_or_the_pool_are_missing) {
  EXPECT_FALSE(plan({"EXCLUSIVE_CPUS=4,5"}, process("p", 1) + "," + process("q", 2)));
  EXPECT_STREQ(message_.text, "a wants 2 CPUs of pool q, which has 2 here, 1 of them taken");
}

TEST_F(StarterPlan, is_refused_when_no_variable_has_the_pool) {
  EXPECT_FALSE(plan({"HOME=/"}, process("p", 1)));
  EXPECT_STREQ(message_.text, "no variable tells the CPUs of pool p; was it requested?");
}

TEST_F(StarterPlan, writes_variables_into_arguments_as_the_kubelet_does) {
  ASSERT_TRUE(plan({"EXCLUSIVE_CPUS=4,5", "A=x", "B=old"},
                   process("p", 2, R"json(, "env": {"B": "new", "C": "c"},
                     "args": ["$(A)-$(B)-$(C)-$(PROCESS_CPUS)", "$$(A) $(NO) $( $x $$ $$$(A)", ""])json")))
      << message_.text;
  const Start& start = plan_.starts[0];
  EXPECT_STREQ(start.argv[0], "a");
  EXPECT_STREQ(start.argv[1], "x-new-c-4,5");
  EXPECT_STREQ(start.argv[2], "$(A) $(NO) $( $x $ $x");
  EXPECT_STREQ(start.argv[3], "");
  EXPECT_EQ(start.argv[4], nullptr);
  EXPECT_EQ(variable(0, "B"), "new");
  EXPECT_EQ(variable(0, "A"), "x");
}

TEST_F(StarterPlan, does_not_grow_without_bound) {
  const std::string large = "A=" + std::string(100'000, 'x');
  std::string word;
  for (int i = 0; i < 1000; ++i) word += "$(A)";
  EXPECT_FALSE(
      plan({"EXCLUSIVE_CPUS=4", large.c_str()}, process("p", 1, R"(, "args": [")" + word + "\"]")));
  EXPECT_STREQ(message_.text, "the arguments of a become longer than any program can be given");
}

TEST(StarterExpectedCpus, are_all_that_any_variable_names) {
  const char* environment[] = {
      "EXCLUSIVE_CPUS=4,5",      "SHARED_CPUS=1-2", "PLIMSOLL_CPUS_X=9",  "PLIMSOLL_CPUS_INFRA=7",
      "PLIMSOLL_SHARED_INFRA=1", "OTHER_CPUS=30",   "EXCLUSIVE_CPUSES=x", nullptr};
  CpuSet exclusive{}, shared{};
  Message message{};
  ASSERT_TRUE(expected_cpus(environment, &exclusive, &shared, &message));
  char text[64];
  cpu_print_ranges(&exclusive, text, sizeof text);
  EXPECT_STREQ(text, "4-5,9");
  cpu_print_ranges(&shared, text, sizeof text);
  EXPECT_STREQ(text, "1-2,7");
  const char* broken[] = {"SHARED_CPUS=all", nullptr};
  EXPECT_FALSE(expected_cpus(broken, &exclusive, &shared, &message));
  EXPECT_STREQ(message.text, "SHARED_CPUS=all is not a list of CPUs");
}

}  // namespace
