// Which pods the selectors of services and budgets pick, kept up to date as pods change, so that
// nobody has to go through a namespace for one of them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/selector.hpp"
#include "local/controllers/shared_informers.hpp"

namespace plim::local::controllers {

// Belongs to one loop, and lives as long as the cache tells changes.
class PodGroups {
 public:
  // The members of the group with this key, or something about them, have changed.
  using Changed = std::function<void(const std::string& key)>;
  // Pods that are the same to whoever reads the group.
  using Same = bool (*)(const kube::Pod& a, const kube::Pod& b);

  PodGroups(PodCache& pods, Same same, Changed changed);
  PodGroups(const PodGroups&) = delete;
  PodGroups& operator=(const PodGroups&) = delete;

  void set(const std::string& key, std::string_view ns, const kube::LabelSelector& selector);
  void erase(const std::string& key);
  std::vector<PodPointer> members(const std::string& key) const;
  std::size_t size(const std::string& key) const;

 private:
  struct Group {
    std::string ns;
    kube::LabelSelector selector;
    std::set<std::string> members = {};
  };

  void look(const PodPointer& before, const PodPointer& now);

  PodCache& pods_;
  Same same_;
  Changed changed_;
  std::map<std::string, Group> groups_;
  std::map<std::string, std::set<std::string>, std::less<>> by_namespace_;
};

}  // namespace plim::local::controllers
