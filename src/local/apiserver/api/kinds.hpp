// The kinds that are served: one table, from which discovery, paths and the rules of writes follow.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

class KindRules;

// "pods/log". Group and version only where its kind belongs to another group than its parent's.
struct Subresource {
  std::string name;
  std::string kind;
  std::vector<std::string> verbs;
  std::string group = {};
  std::string version = {};
};

// When metadata.generation grows.
enum class Generation : std::uint8_t {
  none,                  // the kind has none
  spec,                  // with every change of spec
  spec_and_annotations,  // Deployments: a restart is an annotation of the template or the object
  content,               // with every change outside metadata and status
};

// A kind that is stored in the form of another one.
struct Conversion {
  json::value (*to_served)(json::value stored);
  json::value (*to_stored)(json::value served);
  std::string stored_group;  // the other's, with the same version and plural
};

struct Kind {
  std::string group;  // "" for core
  std::string version;
  std::string plural;
  std::string singular;
  std::string kind;
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  bool namespaced = true;
  std::vector<std::string> verbs = {};
  std::vector<Subresource> subresources = {};
  Generation generation = Generation::none;
  bool keeps_status = false;  // creates may bring a status, as Nodes do
  // A kind added at run time; null for those of the table, which follow the schema.
  std::shared_ptr<const KindRules> rules = {};
  std::string list_kind = {};    // "PodList" if empty
  std::string deprecation = {};  // said to everybody who uses it
  std::optional<Conversion> conversion = {};

  // Filled in by Kinds.
  std::string api_version = {};   // "apps/v1"
  std::string qualified = {};     // "deployments.apps": how messages name it
  std::string prefix = {};        // of its keys: "/registry/apps/deployments/"
  std::string head = {};          // `{"kind":"Pod","apiVersion":"v1",`: how stored objects begin
  const Type* type = nullptr;     // of the schema; null for kinds without
  json::value empty_status = {};  // what Go prints of a status that nobody has set; null: nothing

  const Subresource* subresource(std::string_view name) const;
  bool has_verb(std::string_view verb) const;

  bool has_status() const { return subresource("status") != nullptr; }

  std::string key(std::string_view ns, std::string_view name) const;
  std::string folder(std::string_view ns) const;  // prefix of a namespace's keys, or of all
};

using KindPtr = std::shared_ptr<const Kind>;

// Belongs to one loop.
class Kinds {
 public:
  Kinds();  // with the built-in ones

  KindPtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  // Itself, or the kind in whose form it is stored.
  KindPtr stored_kind(const KindPtr& kind) const;
  // By group and Kind, in any version; for references.
  KindPtr find_kind(std::string_view group, std::string_view kind) const;
  bool has_group_version(std::string_view group, std::string_view version) const;
  bool has_group(std::string_view group) const;

  // In the order of discovery. Versions of a group: the preferred one first.
  struct Group {
    std::string name;
    std::vector<std::string> versions = {};
  };

  std::vector<Group> groups() const;
  std::vector<KindPtr> of(std::string_view group, std::string_view version) const;

  const std::vector<KindPtr>& all() const { return all_; }

  // Served from now on; replaces one with the same group, version and plural.
  KindPtr add(Kind kind);
  void remove(std::string_view group, std::string_view plural);

  // Changes with every add() and remove(): what discovery's ETags are made of.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<KindPtr> all_;
  std::map<std::string, KindPtr, std::less<>> by_path_;  // "apps/v1/deployments"
  std::uint64_t version_ = 0;
};

}  // namespace plim::local::apiserver
