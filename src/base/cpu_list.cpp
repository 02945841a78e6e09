#include "base/cpu_list.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim {
namespace {

constexpr int kWordBits = 64;

std::size_t word_of(int cpu) {
  return static_cast<std::size_t>(cpu) / kWordBits;
}

std::uint64_t bit_of(int cpu) {
  return std::uint64_t{1} << (cpu % kWordBits);
}

bool is_cpu(int cpu) {
  return cpu >= 0 && cpu < CpuSet::kMaxCpus;
}

// One item of a list: first[-last[:used[/group]]].
Result<void> add_item(CpuSet& out, std::string_view item) {
  auto wrong = [item](std::string_view expected) {
    return fail(Code::invalid, fmt::format("cpu list item {}: expected {}", quote(item), expected));
  };
  auto [range, pattern] = cut(item, ':');
  auto [first_text, last_text] = cut(range, '-');
  bool is_range = range.size() > first_text.size();
  bool has_pattern = item.size() > range.size();
  auto first = parse_int<int>(first_text);
  auto last = is_range ? parse_int<int>(last_text) : first;
  if (!first || !last || !is_cpu(*first) || !is_cpu(*last))
    return wrong(fmt::format("a number or a range such as 0-3, below {}", CpuSet::kMaxCpus));
  if (*last < *first) return wrong("a range that does not run backwards");
  int used = 1;
  int group = 1;
  if (has_pattern) {
    auto [used_text, group_text] = cut(pattern, '/');
    bool kernel_form = pattern.size() > used_text.size();
    auto stride = parse_int<int>(kernel_form ? group_text : used_text);
    auto taken = kernel_form ? parse_int<int>(used_text) : Result<int>(1);
    if (!is_range || !stride || !taken || *stride < 1 || *taken < 1 || *taken > *stride)
      return wrong("a range with a step, such as 0-31:2 or 0-31:2/8");
    used = *taken;
    group = *stride;
  }
  for (int cpu = *first; cpu <= *last; ++cpu)
    if ((cpu - *first) % group < used) out.add(cpu);
  return {};
}

}  // namespace

CpuSet::CpuSet(std::initializer_list<int> cpus) {
  for (int cpu : cpus) add(cpu);
}

CpuSet CpuSet::range(int first, int last) {
  CpuSet out;
  for (int cpu = first; cpu <= last; ++cpu) out.add(cpu);
  return out;
}

void CpuSet::add(int cpu) {
  PLIM_ASSERT(is_cpu(cpu));
  if (word_of(cpu) >= words_.size()) words_.resize(word_of(cpu) + 1);
  words_[word_of(cpu)] |= bit_of(cpu);
}

void CpuSet::remove(int cpu) {
  if (!contains(cpu)) return;
  words_[word_of(cpu)] &= ~bit_of(cpu);
  drop_empty_words();
}

bool CpuSet::contains(int cpu) const {
  return cpu >= 0 && word_of(cpu) < words_.size() && (words_[word_of(cpu)] & bit_of(cpu)) != 0;
}

int CpuSet::count() const {
  int total = 0;
  for (std::uint64_t word : words_) total += std::popcount(word);
  return total;
}

int CpuSet::next(int cpu) const {
  std::size_t index = word_of(cpu);
  if (index >= words_.size()) return -1;
  std::uint64_t word = words_[index] & ~(bit_of(cpu) - 1);
  while (word == 0) {
    if (++index == words_.size()) return -1;
    word = words_[index];
  }
  return static_cast<int>(index) * kWordBits + std::countr_zero(word);
}

bool CpuSet::is_subset_of(const CpuSet& other) const {
  return (*this - other).empty();
}

bool CpuSet::intersects(const CpuSet& other) const {
  return !(*this & other).empty();
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  drop_empty_words();
  return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
  std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) words_[i] &= ~other.words_[i];
  drop_empty_words();
  return *this;
}

std::string CpuSet::to_string() const {
  std::string out;
  for (int cpu = first(); cpu >= 0;) {
    int last = cpu;
    while (contains(last + 1)) ++last;
    if (!out.empty()) out += ',';
    out += last == cpu ? fmt::format("{}", cpu) : fmt::format("{}-{}", cpu, last);
    cpu = next(last + 1);
  }
  return out;
}

void CpuSet::drop_empty_words() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

Result<CpuSet> parse_cpu_list(std::string_view text) {
  CpuSet out;
  text = trim(text);
  if (text.empty()) return out;
  for (std::string_view item : split(text, ',')) PLIM_CHECK(add_item(out, item));
  return out;
}

}  // namespace plim
