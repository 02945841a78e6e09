// One copy of strings that repeat: namespaces, node names, labels of thousands of pods.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace plim {

// Ids count up from 0, which is always the empty text; ids and texts stay valid as long as the
// table, also when it is moved. Nothing is ever forgotten, so one owner has one table and throws
// it away with what it described. Not thread-safe.
class InternTable {
 public:
  using Id = std::uint32_t;

  InternTable();
  InternTable(InternTable&&) noexcept = default;
  InternTable& operator=(InternTable&&) noexcept = default;

  Id intern(std::string_view text);

  // The table's own copy of the text.
  std::string_view stored(std::string_view text) { return text_of(intern(text)); }

  std::string_view text_of(Id id) const { return texts_[id]; }

  std::size_t size() const { return texts_.size(); }

 private:
  std::size_t find_slot(std::string_view text) const;
  std::string_view copy(std::string_view text);
  void grow();

  std::vector<std::string_view> texts_;          // by id
  std::vector<Id> slots_;                        // hash table of ids, a power of two; 0 is free
  std::vector<std::unique_ptr<char[]>> chunks_;  // where the texts lie
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
};

}  // namespace plim
