// What selectors ask of stored objects, decoded once for all watches that ask it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/store/entry.hpp"

namespace plim::local::apiserver {

// One object's labels and fields, as far as somebody asked for them.
class ObjectFacts {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  ObjectFacts() = default;

  explicit ObjectFacts(store::EntryPtr entry) : entry_(std::move(entry)) {}

  const store::EntryPtr& entry() const { return entry_; }

  // None: the object has no such field.
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

// Belongs to one loop. A change is looked at by all its watches in a row, so that few objects have
// to be remembered; one takes the place of another.
class SelectionMemory {
 public:
  ObjectFacts& facts_of(const store::EntryPtr& entry);

 private:
  static constexpr std::size_t kPlaces = 256;

  std::array<ObjectFacts, kPlaces> places_;
};

}  // namespace plim::local::apiserver
