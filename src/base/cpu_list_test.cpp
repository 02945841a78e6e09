#include "base/cpu_list.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(CpuList, reads_the_kernels_format) {
  EXPECT_EQ(*parse_cpu_list("0-3,8"), (CpuSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(*parse_cpu_list("5\n"), (CpuSet{5}));
  EXPECT_EQ(*parse_cpu_list(""), CpuSet());
  EXPECT_EQ(*parse_cpu_list("\n"), CpuSet());
  EXPECT_EQ(*parse_cpu_list("3,1-2,1,2-3"), (CpuSet{1, 2, 3}));
  EXPECT_EQ(*parse_cpu_list("0-10:2/4"), (CpuSet{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(*parse_cpu_list("0-6:2"), (CpuSet{0, 2, 4, 6}));
  EXPECT_EQ(*parse_cpu_list("1-5:3/3"), CpuSet::range(1, 5));
  EXPECT_EQ(*parse_cpu_list("65535"), (CpuSet{65535}));
}

TEST(CpuList, rejects_invalid_lists) {
  for (const char* bad : {",",
                          "1,",
                          "a",
                          "-1",
                          "1-",
                          "-",
                          "1--2",
                          "0x1",
                          "1 ,2",
                          "1-2-3",
                          "0-4294967295",
                          "65536",
                          "99999999999999999999",
                          "0-3:0",
                          "0-3:3/2",
                          "0-3:0/2",
                          "0-3:1/0",
                          "0-3:",
                          "0-3:/",
                          "0-3:2/",
                          "3:2",
                          "0-3:-1"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
}

TEST(CpuList, rejects_a_range_that_runs_backwards) {
  EXPECT_EQ(parse_cpu_list("0,3-1").error().message,
            "cpu list item \"3-1\": expected a range that does not run backwards");
}

TEST(CpuList, prints_ranges) {
  EXPECT_EQ(CpuSet().to_string(), "");
  EXPECT_EQ((CpuSet{7}).to_string(), "7");
  EXPECT_EQ((CpuSet{0, 1, 3, 4, 5, 63, 64, 200}).to_string(), "0-1,3-5,63-64,200");
}

TEST(CpuSet, iterates_in_ascending_order) {
  CpuSet set{200, 0, 64, 63};
  EXPECT_EQ(std::vector<int>(set.begin(), set.end()), (std::vector<int>{0, 63, 64, 200}));
  EXPECT_EQ(set.next(65), 200);
  EXPECT_EQ(set.next(201), -1);
  EXPECT_EQ(CpuSet().first(), -1);
}

TEST(CpuSet, removes_cpus) {
  CpuSet set{1, 100};
  set.remove(100);
  set.remove(5);
  set.remove(-1);
  EXPECT_EQ(set, (CpuSet{1}));
  EXPECT_FALSE(set.contains(100));
  EXPECT_FALSE(set.contains(-1));
}

CpuSet arbitrary_set(std::set<int>& model) {
  // A vector, since the generator of sets fails if it draws equal numbers too often.
  const auto cpus = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 300));
  model = {cpus.begin(), cpus.end()};
  CpuSet out;
  for (int cpu : model) out.add(cpu);
  return out;
}

std::set<int> members(const CpuSet& set) {
  return {set.begin(), set.end()};
}

RC_GTEST_PROP(CpuList, reads_what_it_prints, ()) {
  std::set<int> model;
  CpuSet set = arbitrary_set(model);
  RC_ASSERT(*parse_cpu_list(set.to_string()) == set);
}

RC_GTEST_PROP(CpuSet, behaves_like_a_set_of_numbers, ()) {
  std::set<int> a;
  std::set<int> b;
  CpuSet x = arbitrary_set(a);
  CpuSet y = arbitrary_set(b);
  std::set<int> both;
  std::set<int> either;
  std::set<int> only_a;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::inserter(either, either.end()));
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(only_a, only_a.end()));
  RC_ASSERT(members(x & y) == both);
  RC_ASSERT(members(x | y) == either);
  RC_ASSERT(members(x - y) == only_a);
  RC_ASSERT((x | y) == (y | x));
  RC_ASSERT((x - x).empty());
  RC_ASSERT(x.count() == static_cast<int>(a.size()));
  RC_ASSERT(x.intersects(y) == !both.empty());
  RC_ASSERT(x.is_subset_of(x | y));
  RC_ASSERT(x.is_subset_of(y) == only_a.empty());
}

}  // namespace
}  // namespace plim
