#include "kube/interned.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

TEST(InternPool, equal_texts_share_their_bytes) {
  InternPool pool;
  Interned a = pool(std::string("kube-system"));
  Interned b = pool(std::string("kube-system"));
  EXPECT_EQ(a.view().data(), b.view().data());
  EXPECT_EQ(a, "kube-system");
  EXPECT_NE(a, pool("default"));
  EXPECT_EQ(pool(""), Interned());
  EXPECT_EQ(fmt::format("{}", a), "kube-system");
}

TEST(InternPool, drops_texts_without_holders) {
  InternPool pool;
  Interned kept = pool("kept");
  for (int i = 0; i < 100'000; ++i) pool("passing-" + std::to_string(i));
  EXPECT_LT(pool.size(), 1024u);
  EXPECT_EQ(pool("kept").view().data(), kept.view().data());
}

TEST(InternPool, tells_apart_texts_of_every_length_that_differ_in_one_byte) {
  InternPool pool;
  std::vector<Interned> held;
  for (std::size_t size = 1; size < 40; ++size)
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = 'b';
      held.push_back(pool(text));
      EXPECT_EQ(held.back(), text);
    }
  EXPECT_EQ(pool.size(), held.size());
}

TEST(InternPool, counts_its_users_over_many_look_ups) {
  InternPool pool;
  std::vector<Interned> held;
  for (int i = 0; i < 20'000; ++i) held.push_back(pool("often"));
  EXPECT_EQ(held.front().view().data(), held.back().view().data());
  held.clear();
  for (int i = 0; i < 2'000; ++i) pool("passing-" + std::to_string(i));
  EXPECT_LT(pool.size(), 1024u);
}

TEST(InternPool, keeps_what_is_held_and_texts_outlive_it) {
  std::vector<Interned> held;
  {
    InternPool pool;
    for (int i = 0; i < 5'000; ++i) held.push_back(pool("held-" + std::to_string(i)));
    EXPECT_EQ(pool.size(), 5'000u);
    for (int i = 0; i < 5'000; ++i)
      EXPECT_EQ(pool("held-" + std::to_string(i)).view().data(),
                held[std::size_t(i)].view().data());
  }
  EXPECT_EQ(held[4'999], "held-4999");
}

}  // namespace
}  // namespace plim::kube
