#include "base/intern.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/result.hpp"

namespace plim {
namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kChunkBytes = 4096;

}  // namespace

InternTable::InternTable() : texts_(1), slots_(kFirstSlots) {}

InternTable::Id InternTable::intern(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t slot = find_slot(text);
  if (slots_[slot] != 0) return slots_[slot];
  if (texts_.size() * 2 > slots_.size()) {
    grow();
    slot = find_slot(text);
  }
  PLIM_ASSERT(texts_.size() < std::numeric_limits<Id>::max());
  auto id = static_cast<Id>(texts_.size());
  texts_.push_back(copy(text));
  slots_[slot] = id;
  return id;
}

// Where the text is, or the free slot where it belongs.
std::size_t InternTable::find_slot(std::string_view text) const {
  std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != 0 && texts_[slots_[slot]] != text) slot = (slot + 1) & mask;
  return slot;
}

std::string_view InternTable::copy(std::string_view text) {
  if (text.size() > free_bytes_) {
    free_bytes_ = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique<char[]>(free_bytes_));
    free_ = chunks_.back().get();
  }
  char* start = free_;
  std::copy(text.begin(), text.end(), start);
  free_ += text.size();
  free_bytes_ -= text.size();
  return {start, text.size()};
}

void InternTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (Id id = 1; id < texts_.size(); ++id) slots_[find_slot(texts_[id])] = id;
}

}  // namespace plim
