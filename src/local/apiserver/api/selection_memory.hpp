// Caches the labels and fields of stored objects that selectors use, for all watches.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/store/entry.hpp"

namespace plim::local::apiserver {

// The labels and fields of one object that were requested so far.
class ObjectFacts {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  ObjectFacts() = default;

  explicit ObjectFacts(store::EntryPtr entry) : entry_(std::move(entry)) {}

  const store::EntryPtr& entry() const { return entry_; }

  // None if the object has no such field.
  const std::optional<std::string>& field(const std::vector<std::string>& path);
  const Labels& labels();

 private:
  struct Field {
    std::vector<std::string> path;
    std::optional<std::string> value;
  };

  store::EntryPtr entry_;
  std::vector<Field> fields_;
  std::optional<Labels> labels_;
};

// Belongs to one loop. All watches look at a change right after each other, so it is enough to
// remember few objects; a new one replaces an old one.
class SelectionMemory {
 public:
  ObjectFacts& facts_of(const store::EntryPtr& entry);

 private:
  static constexpr std::size_t kPlaces = 256;

  std::array<ObjectFacts, kPlaces> places_;
};

}  // namespace plim::local::apiserver
