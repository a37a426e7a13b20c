"""Who acts: parameters, priors, perception, costs, actors, the likelihood of their responses, and their simulation."""
