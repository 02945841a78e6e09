// The served kinds: one table that determines discovery, paths and the rules of writes.
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

// "pods/log". Has group and version only if its kind is in another group than the parent.
struct Subresource {
  std::string name;
  std::string kind;
  std::vector<std::string> verbs;
  std::string group = {};
  std::string version = {};
};

// When metadata.generation increases.
enum class Generation : std::uint8_t {
  none,                  // the kind has none
  spec,                  // with every change of the spec
  spec_and_annotations,  // for Deployments: a restart changes an annotation
  content,               // with every change outside metadata and status
};

// A kind that is stored in the form of another kind.
struct Conversion {
  json::value (*to_served)(json::value stored);
  json::value (*to_stored)(json::value served);
  std::string stored_group;  // group of the other kind, with the same version and plural
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
  bool keeps_status = false;  // creations may contain a status, as for Nodes
  // For kinds added at run time; null for built-in kinds, which follow the schema.
  std::shared_ptr<const KindRules> rules = {};
  std::string list_kind = {};    // "PodList" if empty
  std::string deprecation = {};  // a warning for every client that uses it
  std::optional<Conversion> conversion = {};

  // Set by Kinds.
  std::string api_version = {};   // "apps/v1"
  std::string qualified = {};     // "deployments.apps", as in messages
  std::string prefix = {};        // of its keys: "/registry/apps/deployments/"
  std::string head = {};          // `{"kind":"Pod","apiVersion":"v1",`: how stored objects begin
  const Type* type = nullptr;     // from the schema; null for kinds without one
  json::value empty_status = {};  // how Go prints an unset status; null: not at all

  const Subresource* subresource(std::string_view name) const;
  bool has_verb(std::string_view verb) const;

  bool has_status() const { return subresource("status") != nullptr; }

  std::string key(std::string_view ns, std::string_view name) const;
  std::string folder(std::string_view ns) const;  // key prefix of a namespace, or of all
};

using KindPtr = std::shared_ptr<const Kind>;

// Belongs to one loop.
class Kinds {
 public:
  Kinds();  // contains the built-in kinds

  KindPtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  // The kind itself, or the kind in whose form it is stored.
  KindPtr stored_kind(const KindPtr& kind) const;
  // Finds a kind by group and Kind, in any version; for references.
  KindPtr find_kind(std::string_view group, std::string_view kind) const;
  bool has_group_version(std::string_view group, std::string_view version) const;
  bool has_group(std::string_view group) const;

  // In the order of discovery. The preferred version of a group comes first.
  struct Group {
    std::string name;
    std::vector<std::string> versions = {};
  };

  std::vector<Group> groups() const;
  std::vector<KindPtr> of(std::string_view group, std::string_view version) const;

  const std::vector<KindPtr>& all() const { return all_; }

  // Serves the kind from now on; replaces one with the same group, version and plural.
  KindPtr add(Kind kind);
  void remove(std::string_view group, std::string_view plural);

  // Changes with every add() and remove(); discovery uses it for ETags.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<KindPtr> all_;
  std::map<std::string, KindPtr, std::less<>> by_path_;  // "apps/v1/deployments"
  std::uint64_t version_ = 0;
};

}  // namespace plim::local::apiserver
