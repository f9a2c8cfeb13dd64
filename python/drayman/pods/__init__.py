"""Pods and the nodes that they run on, as schedulers look at them: what pods ask for and nodes have, and whether the
one suits the other.

Pure functions on objects, with the semantics of upstream's `k8s.io/component-helpers`; the base of the plugins that
filter nodes, and of explanations.
"""
