// Decoded objects by namespace and name, with indexes.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kube/types.hpp"

namespace plim::kube {

inline const ObjectMeta& meta_of(const ObjectMeta& meta) {
  return meta;
}

template <class T>
const ObjectMeta& meta_of(const T& object) {
  return object.meta;
}

// "ns/name", or "name" for cluster-scoped objects.
inline std::string object_key(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : fmt::format("{}/{}", ns, name);
}

inline std::string object_key(const ObjectMeta& meta) {
  return object_key(meta.ns, meta.name);
}

struct TextHash {
  using is_transparent = void;

  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// Belongs to one loop. The objects never change and may be read on any thread.
template <class T>
class Store {
 public:
  using Pointer = std::shared_ptr<const T>;
  using IndexFunction = std::function<std::vector<std::string>(const T&)>;

  Pointer find(std::string_view key) const {
    auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }

  std::size_t size() const { return objects_.size(); }

  auto begin() const { return objects_.begin(); }  // pairs of key and Pointer

  auto end() const { return objects_.end(); }

  // Indexes objects by each of the texts that `function` returns, such as pods by node. Returns the
  // id of the index.
  std::size_t add_index(IndexFunction function) {
    Index& index = indexes_.emplace_back(Index{std::move(function), {}});
    for (const auto& [key, object] : objects_) index.add(key, *object);
    return indexes_.size() - 1;
  }

  std::vector<Pointer> indexed(std::size_t index, std::string_view text) const {
    std::vector<Pointer> out;
    const auto& keys = indexes_.at(index).keys;
    if (auto found = keys.find(text); found != keys.end())
      for (const std::string& key : found->second) out.push_back(objects_.at(key));
    return out;
  }

  // Both return the previous object, or null.
  Pointer put(const std::string& key, Pointer object) {
    Pointer& place = objects_[key];
    for (Index& index : indexes_) {
      if (place) index.remove(key, *place);
      index.add(key, *object);
    }
    return std::exchange(place, std::move(object));
  }

  Pointer erase(std::string_view key) {
    auto found = objects_.find(key);
    if (found == objects_.end()) return nullptr;
    for (Index& index : indexes_) index.remove(found->first, *found->second);
    Pointer out = std::move(found->second);
    objects_.erase(found);
    return out;
  }

 private:
  struct Index {
    IndexFunction function;
    TextMap<std::set<std::string>> keys;

    void add(const std::string& key, const T& object) {
      for (const std::string& text : function(object)) keys[text].insert(key);
    }

    void remove(const std::string& key, const T& object) {
      for (const std::string& text : function(object)) {
        auto found = keys.find(text);
        if (found == keys.end()) continue;
        found->second.erase(key);
        if (found->second.empty()) keys.erase(found);
      }
    }
  };

  TextMap<Pointer> objects_;
  std::vector<Index> indexes_;
};

}  // namespace plim::kube
